package io.gpufleet.inventory.model;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of one node, joined from all topics.
 *
 * @param name node name
 * @param revision increases by one with every change, from 1
 * @param announcement the newest, null before the first
 * @param presence whether the daemon is alive, null before its first event
 * @param verdicts newest verdicts of the health-service
 * @param holders containers that hold devices
 * @param object the Node object
 */
public record NodeState(
        String name,
        long revision,
        @Nullable Announcement announcement,
        @Nullable Presence presence,
        Verdicts verdicts,
        List<Holder> holders,
        NodeObjectState object) {
    /** Copies the list. */
    public NodeState {
        holders = List.copyOf(holders);
    }

    /** A node of which only the name is known. */
    public static NodeState unknown(String name) {
        return new NodeState(name, 0, null, null, Verdicts.NONE, List.of(), NodeObjectState.ABSENT);
    }

    /** The announcement, if any; a node without one is not a GPU node and is not listed. */
    public Optional<Announcement> lastAnnouncement() {
        return Optional.ofNullable(announcement);
    }

    /** The presence, empty before the first announcement. */
    public Optional<Presence> livePresence() {
        return Optional.ofNullable(presence);
    }

    /** GPUs of the node, by index. */
    public List<Gpu> gpus() {
        return announcement == null ? List.of() : announcement.gpus();
    }

    /** The GPU with that UUID or with a MIG instance of that UUID. */
    public Optional<Gpu> gpu(String deviceId) {
        for (Gpu gpu : gpus()) {
            if (gpu.uuid().equals(deviceId) || gpu.deviceIds().contains(deviceId)) {
                return Optional.of(gpu);
            }
        }
        return Optional.empty();
    }

    /** The published settings, or none. */
    public NodeSettings settingsOrNone() {
        return object.settings() == null ? NodeSettings.NONE : object.settings();
    }

    /** True when nothing but the name is known. */
    public boolean isEmpty() {
        return equals(unknown(name).withRevision(revision));
    }

    /** Health of a device: the verdict, unless there is none or it is healthy; then the local health. */
    public String healthOf(Gpu gpu) {
        String verdict = verdicts.devices().getOrDefault(gpu.uuid(), "");
        if (!verdict.isEmpty() && !verdict.equals("healthy")) {
            return verdict;
        }
        return switch (gpu.localHealth()) {
            case UNKNOWN -> "unknown";
            case HEALTHY -> "healthy";
            case UNHEALTHY -> "unhealthy";
            case LOST -> "lost";
        };
    }

    /** The next state after the deltas of one event, of the next revision; this one where they change nothing. */
    public NodeState apply(NodeDelta... deltas) {
        NodeState after = this;
        for (NodeDelta delta : deltas) {
            after = NodeTransitions.after(after, delta);
        }
        return after.equals(this) ? this : after.withRevision(revision + 1);
    }

    /** The same content under another revision. */
    public NodeState withRevision(long number) {
        return new NodeState(name, number, announcement, presence, verdicts, holders, object);
    }

    /** Replaces the announcement. */
    public NodeState with(Announcement newest) {
        return new NodeState(name, revision, newest, presence, verdicts, holders, object);
    }

    /** Replaces the presence. */
    public NodeState with(Presence newest) {
        return new NodeState(name, revision, announcement, newest, verdicts, holders, object);
    }

    /** Replaces the verdicts. */
    public NodeState with(Verdicts newest) {
        return new NodeState(name, revision, announcement, presence, newest, holders, object);
    }

    /** Replaces the holders. */
    public NodeState withHolders(List<Holder> newest) {
        return new NodeState(name, revision, announcement, presence, verdicts, newest, object);
    }

    /** Replaces the Node object. */
    public NodeState with(NodeObjectState newest) {
        return new NodeState(name, revision, announcement, presence, verdicts, holders, newest);
    }

    /** Replaces UID and settings of the Node object; its label conflicts stay. */
    public NodeState withNodeObject(String uid, NodeSettings settings) {
        return with(new NodeObjectState(uid, settings, object.labelConflicts()));
    }

    /** Replaces the label conflicts of the Node object. */
    public NodeState withLabelConflicts(List<String> keys) {
        return with(new NodeObjectState(object.uid(), object.settings(), keys));
    }
}

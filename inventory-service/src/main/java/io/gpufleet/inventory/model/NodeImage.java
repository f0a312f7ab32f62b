package io.gpufleet.inventory.model;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One node, joined from everything that was heard of it.
 *
 * @param name node name
 * @param revision counts up with every change, from 1
 * @param announcement the newest, null until the daemon was heard
 * @param presence whether the daemon is heard, null until it was
 * @param verdicts what may be trusted
 * @param holders who holds devices
 * @param nodeUid UID of the Node object, empty until it was seen
 * @param labelConflicts label keys that somebody else owns, sorted
 * @param settings as last published, null until the Node object was seen
 */
public record NodeImage(
        String name,
        long revision,
        @Nullable Announcement announcement,
        @Nullable Presence presence,
        Verdicts verdicts,
        List<Holder> holders,
        String nodeUid,
        List<String> labelConflicts,
        @Nullable NodeSettings settings) {
    /** Copies the lists. */
    public NodeImage {
        holders = List.copyOf(holders);
        labelConflicts = List.copyOf(labelConflicts);
    }

    /** A node of which only the name is known. */
    public static NodeImage unknown(String name) {
        return new NodeImage(name, 0, null, null, Verdicts.NONE, List.of(), "", List.of(), null);
    }

    /** The announcement, where there was one: without it the node is no GPU node and stands in no list. */
    public Optional<Announcement> announced() {
        return Optional.ofNullable(announcement);
    }

    /** Every GPU that the node has, by index. */
    public List<Gpu> gpus() {
        return announcement == null ? List.of() : announcement.gpus();
    }

    /** The settings that were published, or none. */
    public NodeSettings chosenSettings() {
        return settings == null ? NodeSettings.NONE : settings;
    }

    /** True when the node has nothing that would be missed. */
    public boolean empty() {
        return equals(unknown(name).atRevision(revision));
    }

    /** Health of a device: the verdict where there is one, else what its daemon thinks. */
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

    /** Whether the two differ in more than the revision. */
    public boolean differsFrom(NodeImage other) {
        return !equals(other.atRevision(revision));
    }

    /** The same content under another revision. */
    public NodeImage atRevision(long number) {
        return new NodeImage(
                name, number, announcement, presence, verdicts, holders, nodeUid, labelConflicts, settings);
    }

    /** With a new announcement. */
    public NodeImage with(Announcement snapshot) {
        return new NodeImage(name, revision, snapshot, presence, verdicts, holders, nodeUid, labelConflicts, settings);
    }

    /** With another presence. */
    public NodeImage with(Presence now) {
        return new NodeImage(name, revision, announcement, now, verdicts, holders, nodeUid, labelConflicts, settings);
    }

    /** With other verdicts. */
    public NodeImage with(Verdicts now) {
        return new NodeImage(name, revision, announcement, presence, now, holders, nodeUid, labelConflicts, settings);
    }

    /** With other holders. */
    public NodeImage heldBy(List<Holder> now) {
        return new NodeImage(name, revision, announcement, presence, verdicts, now, nodeUid, labelConflicts, settings);
    }

    /** With what is known of the Node object; an empty UID says that there is none. */
    public NodeImage ofObject(String uid, @Nullable NodeSettings chosen) {
        return new NodeImage(name, revision, announcement, presence, verdicts, holders, uid, labelConflicts, chosen);
    }

    /** With other label conflicts. */
    public NodeImage conflicting(List<String> keys) {
        return new NodeImage(name, revision, announcement, presence, verdicts, holders, nodeUid, keys, settings);
    }
}

package io.gpufleet.health.model.remediation;

import io.gpufleet.health.model.fault.RecommendedAction;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Request to an executor; never changes.
 *
 * @param target what it concerns
 * @param action for example a reboot
 * @param episode fault that needs it longest, for example {@code xid-79}
 * @param attempt number of this request, from 1
 * @param deadline by when its effect has to be seen
 * @param evidence ids of the events that opened the faults
 */
public record Remediation(
        Target target, RecommendedAction action, String episode, int attempt, Instant deadline, List<String> evidence) {
    /** Nothing. */
    public static final Remediation NONE =
            new Remediation(new Target("", "", List.of()), RecommendedAction.NONE, "", 0, Instant.EPOCH, List.of());

    private static final int MAX_EVIDENCE = 8;

    /** Copies the list, of which it keeps the first eight. */
    public Remediation {
        evidence = evidence.stream().sorted().limit(MAX_EVIDENCE).toList();
    }

    /**
     * Subject of the request.
     *
     * @param nodeUid UID of the Node object
     * @param bootId boot in which it is needed
     * @param devices none for a fault of the node itself; sorted
     */
    public record Target(String nodeUid, String bootId, List<RemediatedDevice> devices) {
        /** Sorts the devices. */
        public Target {
            devices = devices.stream()
                    .sorted(Comparator.comparing(RemediatedDevice::uuid))
                    .toList();
        }
    }

    /**
     * A GPU.
     *
     * @param serial empty when unknown
     */
    public record RemediatedDevice(String uuid, String serial) {}

    /** The same for the same request always, so that its object can be made only once. */
    public String name() {
        String identity = String.join(
                "\n",
                target.nodeUid,
                target.bootId,
                target.devices.stream().map(RemediatedDevice::uuid).collect(Collectors.joining(" ")),
                action.slug(),
                episode,
                Integer.toString(attempt));
        return action.slug() + "-" + UUID.nameUUIDFromBytes(bytes(identity));
    }

    /** True when a new boot of the node is its effect. */
    public boolean boots() {
        return action.boots();
    }

    /** True when the word of its executor is its effect: nothing else can say that a GPU works. */
    public boolean validates() {
        return action == RecommendedAction.VALIDATE;
    }

    /** One line for people, for example {@code reboot, attempt 1, for xid-79 of GPU-1}. */
    public String text() {
        String devices = target.devices.stream().map(RemediatedDevice::uuid).collect(Collectors.joining(", "));
        return action.slug() + ", attempt " + attempt + ", for " + episode + " of "
                + (devices.isEmpty() ? "the node" : devices);
    }

    /** True when both are requests for the same thing, whatever their numbers. */
    public boolean repeats(Remediation other) {
        return target.equals(other.target) && action == other.action && episode.equals(other.episode);
    }

    /** The same with another number. */
    public Remediation withAttempt(int number) {
        return new Remediation(target, action, episode, number, deadline, evidence);
    }

    private static byte[] bytes(String text) {
        var bytes = new byte[2 * text.length()];
        for (int i = 0; i < text.length(); i++) {
            bytes[2 * i] = (byte) (text.charAt(i) >> Byte.SIZE);
            bytes[2 * i + 1] = (byte) text.charAt(i);
        }
        return bytes;
    }
}

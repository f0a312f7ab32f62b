package io.gpufleet.health.model.fault;

import io.gpufleet.model.fault.FaultKind;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A fault without its device.
 *
 * @param kind kind of the fault
 * @param number XID or SXID; place of the recovery action in {@link RecoveryAction}, since a device may have several of
 *     these faults; 0 for other kinds
 */
public record FaultCode(FaultKind kind, int number) implements Comparable<FaultCode> {
    /** Of every kind: they are asked for with every decision. */
    private static final Map<FaultKind, String> REASONS = Arrays.stream(FaultKind.values())
            .collect(Collectors.toUnmodifiableMap(Function.identity(), FaultCode::spelled));

    /** Rejects a negative number. */
    public FaultCode {
        if (number < 0) {
            throw new IllegalArgumentException(kind + " with negative number " + number);
        }
        if (kind == FaultKind.RECOVERY_ACTION && number >= RecoveryAction.values().length) {
            throw new IllegalArgumentException("no recovery action has number " + number);
        }
    }

    /** An XID. */
    public static FaultCode xid(int number) {
        return new FaultCode(FaultKind.XID, number);
    }

    /** The driver requests this recovery action. */
    public static FaultCode recovery(RecoveryAction action) {
        return new FaultCode(FaultKind.RECOVERY_ACTION, action.ordinal());
    }

    /** A fault of a kind without numbers. */
    public static FaultCode of(FaultKind kind) {
        return new FaultCode(kind, 0);
    }

    /** The recovery action that the driver requests by this fault; {@code UNSPECIFIED} for a fault of another kind. */
    public RecoveryAction requestedAction() {
        return isRecovery() ? RecoveryAction.values()[number] : RecoveryAction.UNSPECIFIED;
    }

    /** Name in rules, for example {@code xid-79}, {@code gpu-lost} or {@code recovery-action-node-reboot}. */
    public String slug() {
        String name = kebabCase(kind);
        if (number == 0) {
            return name;
        }
        return name + "-" + (isRecovery() ? kebabCase(requestedAction()) : number);
    }

    private static String kebabCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private boolean isRecovery() {
        return kind == FaultKind.RECOVERY_ACTION;
    }

    /** Reason in taints and conditions, for example {@code Xid79} or {@code GpuLost}. */
    public String reason() {
        String ofKind = Objects.requireNonNull(REASONS.get(kind));
        return number == 0 || isRecovery() ? ofKind : ofKind + number;
    }

    private static String spelled(FaultKind kind) {
        return Arrays.stream(kind.name().split("_", -1))
                .map(word -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.joining());
    }

    @Override
    public int compareTo(FaultCode other) {
        int byKind = kind.compareTo(other.kind);
        return byKind == 0 ? Integer.compare(number, other.number) : byKind;
    }
}

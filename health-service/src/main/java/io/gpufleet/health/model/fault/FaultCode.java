package io.gpufleet.health.model.fault;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A fault without its device.
 *
 * @param kind kind of the fault
 * @param number XID or SXID; 0 for other kinds
 */
public record FaultCode(FaultKind kind, int number) implements Comparable<FaultCode> {
    private static final Comparator<FaultCode> ORDER =
            Comparator.comparing(FaultCode::kind).thenComparingInt(FaultCode::number);

    /** Rejects a negative number. */
    public FaultCode {
        if (number < 0) {
            throw new IllegalArgumentException(kind + " with negative number " + number);
        }
    }

    /** An XID. */
    public static FaultCode xid(int number) {
        return new FaultCode(FaultKind.XID, number);
    }

    /** A fault of a kind without numbers. */
    public static FaultCode of(FaultKind kind) {
        return new FaultCode(kind, 0);
    }

    /** Name in rules, for example {@code xid-79} or {@code gpu-lost}. */
    public String slug() {
        String name = kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
        return number == 0 ? name : name + "-" + number;
    }

    /** Reason in taints and conditions, for example {@code Xid79} or {@code GpuLost}. */
    public String reason() {
        return Arrays.stream(kind.name().split("_", -1))
                        .map(word -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining())
                + (number == 0 ? "" : number);
    }

    @Override
    public int compareTo(FaultCode other) {
        return ORDER.compare(this, other);
    }
}

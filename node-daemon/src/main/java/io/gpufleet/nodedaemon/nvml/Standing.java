package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.catalogue.ImmediateAction;
import io.gpufleet.catalogue.XidCatalogue;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.Reading.Unavailable;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.nvml.VitalsReader.Condition;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** The faults this source has reported and not taken back; outlives a session, or a reload would forget them. */
final class Standing {
    /** The driver as a whole, where a GPU's UUID would stand. */
    static final String NODE = "";

    /** So many threads are lost to calls under way; the library probably waits for itself. */
    private static final int HUNG_TOO_MANY = 3;

    private final Consumer<Sign> signs;
    private final LongSupplier nanoTime;
    private final long settleNanos;
    private final Map<Key, Long> since = new HashMap<>();

    private record Key(String gpuUuid, FaultCode fault) {}

    /** An XID is not taken back before it has stood for {@code settle}: the driver's recovery action follows after it. */
    Standing(Consumer<Sign> signs, LongSupplier nanoTime, Duration settle) {
        this.signs = signs;
        this.nanoTime = nanoTime;
        this.settleNanos = settle.toNanos();
    }

    /** A fault that is news each time; of one MIG instance where it is named. */
    synchronized void happens(String gpuUuid, String migUuid, FaultCode fault, String message) {
        since.put(new Key(gpuUuid, fault), nanoTime.getAsLong());
        signs.accept(new Sign.FaultSeen(gpuUuid, migUuid, fault, FaultOrigin.NVML_EVENT, message));
    }

    /** A state, which is news only when it begins. */
    synchronized boolean begins(String gpuUuid, FaultCode fault, String message) {
        if (since.putIfAbsent(new Key(gpuUuid, fault), nanoTime.getAsLong()) != null) {
            return false;
        }
        signs.accept(new Sign.FaultSeen(gpuUuid, "", fault, FaultOrigin.POLL, message));
        if (plain(fault, FaultCode.Kind.NVML_HUNG) && hung() == HUNG_TOO_MANY) {
            signs.accept(new Sign.StartAnew(HUNG_TOO_MANY + " NVML calls did not return, the last one: " + message));
        }
        return true;
    }

    private long hung() {
        return since.keySet().stream()
                .filter(key -> plain(key.fault(), FaultCode.Kind.NVML_HUNG))
                .count();
    }

    synchronized void ends(String gpuUuid, Predicate<FaultCode> which, String proof) {
        Iterator<Key> keys = since.keySet().iterator();
        while (keys.hasNext()) {
            Key key = keys.next();
            if (key.gpuUuid().equals(gpuUuid) && which.test(key.fault())) {
                keys.remove();
                signs.accept(new Sign.CauseGone(gpuUuid, key.fault(), proof));
            }
        }
    }

    void lookAgain(String reason) {
        signs.accept(new Sign.LookAgain(reason));
    }

    /** The GPU answered; what it asks for is news, in both directions. */
    synchronized void answered(String gpuUuid, Condition condition) {
        ends(gpuUuid, fault -> plain(fault, FaultCode.Kind.GPU_LOST), "the handle answers");
        ends(gpuUuid, fault -> plain(fault, FaultCode.Kind.NVML_HUNG), "calls return");
        if (condition.recovery() instanceof Known<RecoveryAction>(RecoveryAction action)) {
            ends(
                    gpuUuid,
                    fault -> fault instanceof FaultCode.RecoveryAsked(RecoveryAction asked) && asked != action,
                    "recovery action " + action);
            if (action != RecoveryAction.NONE) {
                begins(gpuUuid, new FaultCode.RecoveryAsked(action), "the driver asks for " + action);
            }
        }
    }

    /**
     * What follows for faults that were single events: where the driver tells its recovery action, NONE and no row waiting
     * for a remap are the proof; where it does not, an answer proves only what never needed a repair.
     */
    synchronized void proves(String gpuUuid, Condition condition) {
        if (condition.remapPending().orElse(false)) {
            return;
        }
        switch (condition.recovery()) {
            case Known<RecoveryAction>(RecoveryAction action) -> {
                if (action == RecoveryAction.NONE) {
                    ends(
                            gpuUuid,
                            fault -> settled(gpuUuid, fault) && isEvent(fault),
                            "the handle answers, recovery action NONE, no remap pending");
                }
            }
            case Unavailable<RecoveryAction> _ ->
                ends(
                        gpuUuid,
                        fault -> settled(gpuUuid, fault) && needsNoRepair(fault),
                        "the handle answers, and the XID asks for no repair");
        }
    }

    /** The GPU did not answer. */
    void silent(String gpuUuid, NvmlFailure why) {
        if (why.concernsDriver()) {
            lookAgain(String.valueOf(why.getMessage()));
            return;
        }
        FaultCode.Kind kind = why.code() == NvmlFailure.HUNG ? FaultCode.Kind.NVML_HUNG : FaultCode.Kind.GPU_LOST;
        if (begins(gpuUuid, new FaultCode.Plain(kind), String.valueOf(why.getMessage()))) {
            lookAgain(kind + " " + gpuUuid);
        }
    }

    private boolean settled(String gpuUuid, FaultCode fault) {
        long began = Objects.requireNonNull(since.get(new Key(gpuUuid, fault)));
        return nanoTime.getAsLong() - began >= settleNanos;
    }

    private static boolean isEvent(FaultCode fault) {
        return fault instanceof FaultCode.Xid || plain(fault, FaultCode.Kind.ECC_UNCORRECTABLE);
    }

    private static boolean needsNoRepair(FaultCode fault) {
        return fault instanceof FaultCode.Xid(int code)
                && XidCatalogue.standard()
                        .find(code)
                        .filter(xid -> xid.immediate() == ImmediateAction.IGNORE
                                || xid.immediate() == ImmediateAction.RESTART_APP)
                        .isPresent();
    }

    static boolean plain(FaultCode fault, FaultCode.Kind kind) {
        return fault instanceof FaultCode.Plain(FaultCode.Kind its) && its == kind;
    }
}

package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** Things to test with. */
public final class Some {
    /** A policy that withdraws for XIDs 48 and 79 and lets devices back after five minutes. */
    public static final FaultPolicy POLICY = new FaultPolicy(Set.of(48, 79), Duration.ofMinutes(5), XidOverrides.NONE);

    /** What is known of a GPU whose energy was never read. */
    public static final OpenFault.Subject SUBJECT =
            new OpenFault.Subject("", "H100", new Reading.Unavailable<>("NOT_SUPPORTED"));

    private Some() {}

    /** What is offered of a GPU that is whole and not shared. */
    public static Offer offer(int index, boolean healthy, String reason) {
        return new Offer(uuid(index), gpu(index), new Part.Whole(), ResourcePlan.GPU, 1, healthy, true, false, reason);
    }

    /** A moment so many seconds after the beginning of the test's time. */
    public static Moment second(double seconds) {
        long nanos = Math.round(seconds * 1e9);
        return new Moment(Instant.parse("2026-11-20T10:00:00Z").plusNanos(nanos), nanos);
    }

    /** The UUID of {@link #gpu}. */
    public static String uuid(int index) {
        return "GPU-0000000" + index;
    }

    /** One GPU of a node. */
    public static Gpu gpu(int index) {
        return new Gpu(
                uuid(index),
                new Reading.Known<>("serial-" + index),
                index,
                index,
                "0000000" + index + ":00:00.0",
                "NVIDIA H100 80GB HBM3",
                "H100",
                "hopper",
                "9.0",
                new Reading.Known<>(80L << 30),
                new Reading.Unavailable<>("NOT_SUPPORTED"),
                new Reading.Known<>(index / 4),
                new Reading.Known<>(false),
                List.of(),
                new Reading.Unavailable<>("NOT_SUPPORTED"),
                new Reading.Known<>("compute"),
                List.of(),
                new Reading.Unavailable<>("not read"),
                new Reading.Unavailable<>("not read"));
    }

    /** A look at so many GPUs. */
    public static Look.Seen seen(int gpus) {
        return new Look.Seen(
                "570.124.06",
                "12.8",
                IntStream.range(0, gpus).mapToObj(Some::gpu).toList(),
                List.of());
    }

    /** A GPU with an XID. */
    public static Sign.FaultSeen xid(int gpu, int code, FaultOrigin origin) {
        return new Sign.FaultSeen(uuid(gpu), "", new FaultCode.Xid(code), origin, "Xid " + code);
    }

    /** What a GPU says of itself when it answers. */
    public static Vitals vitals(int gpu, Reading<RecoveryAction> action) {
        Reading<Integer> none = new Reading.Unavailable<>("NOT_SUPPORTED");
        Reading<Long> noneEither = new Reading.Unavailable<>("NOT_SUPPORTED");
        return new Vitals(
                uuid(gpu),
                new Reading.Known<>(true),
                action,
                none,
                none,
                noneEither,
                none,
                none,
                none,
                none,
                noneEither,
                noneEither,
                noneEither,
                Meters.NONE,
                Conditions.unavailable("not read"),
                new Reading.Unavailable<>("not read"),
                List.of());
    }
}

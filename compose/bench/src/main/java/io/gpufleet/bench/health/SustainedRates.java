package io.gpufleet.bench.health;

import io.gpufleet.bench.harness.Measurements;
import io.gpufleet.bench.projection.FleetEvents;
import io.gpufleet.bench.projection.ServiceUnderLoad;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** The usual mix of events at an even rate, and how many of them wait meanwhile. */
final class SustainedRates {
    private static final Duration LOAD = Duration.ofSeconds(30);
    private static final Duration TICK = Duration.ofMillis(10);
    private static final Duration SAMPLE = Duration.ofSeconds(1);
    /** Samples before it are of the start of the load. */
    private static final double SETTLED_SECONDS = 5;
    /** Share of a rate that has to be written, so that it counts as that rate. */
    private static final double FED = 0.99;

    private final ServiceUnderLoad service;
    private final FleetEvents events;
    private final Semaphore never = new Semaphore(0);
    /** Events of the mix that were written so far. */
    private final AtomicLong written = new AtomicLong();

    SustainedRates(ServiceUnderLoad service, FleetEvents events) {
        this.service = service;
        this.events = events;
    }

    /** Searches the highest rate at which the lag is flat, beginning with this one. */
    void search(int first, Measurements measurements, Consumer<String> log) throws InterruptedException {
        log.accept("warming up with " + first + " events a second");
        load(first);
        service.awaitRest();
        var search = new RateSearch();
        OptionalInt rate = OptionalInt.of(first);
        while (rate.isPresent()) {
            log.accept(rate.getAsInt() + " events a second for " + LOAD.toSeconds() + " s");
            boolean sustained = measure(rate.getAsInt(), measurements);
            log.accept(sustained ? "the lag stays flat" : "the lag grows, or so many could not be written");
            rate = search.next(rate.getAsInt(), sustained);
        }
        measurements.add("health.highest-rate-at-flat-lag", search.highest(), "1/s");
    }

    private boolean measure(int rate, Measurements measurements) throws InterruptedException {
        Duration cpu = service.cpu();
        long begin = System.nanoTime();
        Load load = load(rate);
        double cores = service.cpu().minus(cpu).toNanos() / 1e9 / seconds(begin);
        service.awaitRest();
        boolean flat = load.trend().flat(rate);
        String name = "health.rate-" + rate;
        measurements.add(name + ".written", load.perSecond(), "1/s");
        measurements.addDistribution(name + ".lag", load.trend().lags(), "events");
        measurements.add(name + ".lag-growth", load.trend().growth(), "1/s");
        measurements.add(name + ".cores", cores, "1");
        measurements.add(name + ".flat", flat ? 1 : 0, "1");
        return flat && load.perSecond() >= FED * rate;
    }

    /**
     * A load that ended.
     *
     * @param seconds how long it lasted
     * @param events number of events that were written
     */
    private record Load(double seconds, long events, LagTrend trend) {
        double perSecond() {
            return events / seconds;
        }
    }

    private Load load(int rate) throws InterruptedException {
        double appliedBefore = service.applied();
        long writtenBefore = written.get();
        var trend = new LagTrend();
        long begin = System.nanoTime();
        try (var writer = Executors.newSingleThreadExecutor()) {
            Future<Double> end = writer.submit(() -> write(rate, begin));
            while (!end.isDone()) {
                pause(SAMPLE);
                double applied = service.applied() - appliedBefore;
                double seconds = seconds(begin);
                // Less than before is no answer in time: the next sample shows what waits.
                if (seconds >= SETTLED_SECONDS && applied >= 0 && !end.isDone()) {
                    trend.add(seconds, written.get() - writtenBefore - applied);
                }
            }
            return new Load(end.get(), written.get() - writtenBefore, trend);
        } catch (ExecutionException failed) {
            throw new IllegalStateException("the events of the load were not written", failed.getCause());
        }
    }

    /** Writes at even intervals what is due; returns how long it took. */
    private double write(int rate, long begin) throws InterruptedException {
        long first = written.get();
        while (seconds(begin) < LOAD.toSeconds()) {
            long due = first + (long) (seconds(begin) * rate);
            while (written.get() < due && seconds(begin) < LOAD.toSeconds()) {
                events.ofMix(written.getAndIncrement());
            }
            pause(TICK);
        }
        events.flush();
        return seconds(begin);
    }

    private void pause(Duration time) throws InterruptedException {
        var _ = never.tryAcquire(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    private static double seconds(long begin) {
        return (System.nanoTime() - begin) / 1e9;
    }
}

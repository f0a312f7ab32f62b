package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.Conditions.Fabric;
import io.gpufleet.nodedaemon.model.Reading.Known;
import java.util.List;

/** Vitals to test with: those of a GPU that is well, changed one by one. */
public final class SomeVitals {
    private final int gpu;
    private Reading<Boolean> answers = new Known<>(true);
    private Reading<RecoveryAction> recovery = new Known<>(RecoveryAction.NONE);
    private int load = 10;
    private Reading<Long> memory = new Known<>(1L << 30);
    private Reading<Long> energy = new Known<>(1000L);
    private Reading<Long> replays = new Known<>(0L);
    private Reading<Long> clockReasons = new Known<>(0L);
    private Reading<List<ComputeProcess>> processes = new Known<>(List.of());
    private Conditions conditions = new Conditions(
            new Known<>(0L),
            new Known<>(false),
            new Known<>(false),
            new Known<>(false),
            new Known<>(5),
            new Known<>(5),
            new Known<>(16),
            new Known<>(16),
            new Known<>(0),
            new Known<>(0L),
            new Known<>(true),
            new Known<>(Fabric.UP),
            new Known<>(true));

    private SomeVitals(int gpu) {
        this.gpu = gpu;
    }

    /** A GPU that is well. */
    public static SomeVitals well(int gpu) {
        return new SomeVitals(gpu);
    }

    /** The vitals. */
    public Vitals now() {
        return new Vitals(
                Some.uuid(gpu),
                answers,
                recovery,
                new Known<>(load),
                new Known<>(0),
                memory,
                new Known<>(100_000),
                new Known<>(40),
                new Known<>(1980),
                new Known<>(2619),
                energy,
                replays,
                clockReasons,
                Meters.NONE,
                conditions,
                processes,
                List.of());
    }

    public SomeVitals silent() {
        answers = new Known<>(false);
        recovery = new Reading.Unavailable<>("GPU_IS_LOST");
        energy = new Reading.Unavailable<>("GPU_IS_LOST");
        return with(Conditions.unavailable("GPU_IS_LOST"));
    }

    public SomeVitals asks(RecoveryAction action) {
        recovery = new Known<>(action);
        return this;
    }

    /** A driver before 565. */
    public SomeVitals withoutRecoveryAction() {
        recovery = new Reading.Unavailable<>("NOT_SUPPORTED");
        return this;
    }

    public SomeVitals energy(long millijoules) {
        energy = new Known<>(millijoules);
        return this;
    }

    public SomeVitals load(int percent) {
        load = percent;
        return this;
    }

    public SomeVitals memory(Reading<Long> reading) {
        memory = reading;
        return this;
    }

    public SomeVitals replays(Reading<Long> reading) {
        replays = reading;
        return this;
    }

    public SomeVitals clockReasons(Reading<Long> reading) {
        clockReasons = reading;
        return this;
    }

    public SomeVitals with(Conditions others) {
        conditions = others;
        return this;
    }

    /** Those compute on it; an unavailable reading says that nobody could look. */
    public SomeVitals processes(Reading<List<ComputeProcess>> reading) {
        processes = reading;
        return this;
    }

    public SomeVitals powerReadable(boolean readable) {
        var c = conditions;
        return with(new Conditions(
                c.uncorrectableErrors(),
                c.remapPending(),
                c.remapFailed(),
                c.retirementPending(),
                c.pcieGeneration(),
                c.pcieGenerationMost(),
                c.pcieWidth(),
                c.pcieWidthMost(),
                c.linksDown(),
                c.linkErrors(),
                c.infoRomValid(),
                c.fabric(),
                new Known<>(readable)));
    }

    public SomeVitals uncorrectable(long errors) {
        var c = conditions;
        return with(new Conditions(
                new Known<>(errors),
                c.remapPending(),
                c.remapFailed(),
                c.retirementPending(),
                c.pcieGeneration(),
                c.pcieGenerationMost(),
                c.pcieWidth(),
                c.pcieWidthMost(),
                c.linksDown(),
                c.linkErrors(),
                c.infoRomValid(),
                c.fabric(),
                c.powerReadable()));
    }

    public SomeVitals remap(boolean pending, boolean failed, boolean retirement) {
        var c = conditions;
        return with(new Conditions(
                c.uncorrectableErrors(),
                new Known<>(pending),
                new Known<>(failed),
                new Known<>(retirement),
                c.pcieGeneration(),
                c.pcieGenerationMost(),
                c.pcieWidth(),
                c.pcieWidthMost(),
                c.linksDown(),
                c.linkErrors(),
                c.infoRomValid(),
                c.fabric(),
                c.powerReadable()));
    }

    public SomeVitals link(int generation, int width) {
        var c = conditions;
        return with(new Conditions(
                c.uncorrectableErrors(),
                c.remapPending(),
                c.remapFailed(),
                c.retirementPending(),
                new Known<>(generation),
                c.pcieGenerationMost(),
                new Known<>(width),
                c.pcieWidthMost(),
                c.linksDown(),
                c.linkErrors(),
                c.infoRomValid(),
                c.fabric(),
                c.powerReadable()));
    }

    public SomeVitals linksDown(int links) {
        return nvlink(new Known<>(links), conditions.linkErrors(), conditions.fabric());
    }

    public SomeVitals linkErrors(long errors) {
        return nvlink(conditions.linksDown(), new Known<>(errors), conditions.fabric());
    }

    public SomeVitals fabric(Reading<Fabric> fabric) {
        return nvlink(conditions.linksDown(), conditions.linkErrors(), fabric);
    }

    private SomeVitals nvlink(Reading<Integer> down, Reading<Long> errors, Reading<Fabric> fabric) {
        var c = conditions;
        return with(new Conditions(
                c.uncorrectableErrors(),
                c.remapPending(),
                c.remapFailed(),
                c.retirementPending(),
                c.pcieGeneration(),
                c.pcieGenerationMost(),
                c.pcieWidth(),
                c.pcieWidthMost(),
                down,
                errors,
                c.infoRomValid(),
                fabric,
                c.powerReadable()));
    }

    public SomeVitals infoRom(boolean valid) {
        var c = conditions;
        return with(new Conditions(
                c.uncorrectableErrors(),
                c.remapPending(),
                c.remapFailed(),
                c.retirementPending(),
                c.pcieGeneration(),
                c.pcieGenerationMost(),
                c.pcieWidth(),
                c.pcieWidthMost(),
                c.linksDown(),
                c.linkErrors(),
                new Known<>(valid),
                c.fabric(),
                c.powerReadable()));
    }
}

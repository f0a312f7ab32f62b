package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.CdiNames;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A device source whose looks leave the host prepared: what container runtimes have to know of a device is written
 * before anybody hears of the device, on the thread that looks, so that no answer to the kubelet ever waits for a disk.
 */
public final class PreparedLooks implements DeviceSource {
    private final DeviceSource source;
    private final HostSurvey survey;
    private final RuntimeSpecs specs;
    private final Consumer<Input> inbox;
    private SettingsChoice choice;
    private HostNodes told = HostNodes.NONE;
    private Look.@Nullable Seen seen;
    private List<Gpu> gpus = List.of();

    /** Prepares the host for the looks of a source. */
    public PreparedLooks(
            DeviceSource source, HostSurvey survey, RuntimeSpecs specs, SettingsChoice choice, Consumer<Input> inbox) {
        this.source = source;
        this.survey = survey;
        this.specs = specs;
        this.choice = choice;
        this.inbox = inbox;
    }

    @Override
    public Look look() {
        Look look = source.look();
        switch (look) {
            case Look.Seen now -> seen(now);
            // Containers that run start again with what they were given: what they need stays described.
            case Look.Blind _ -> {}
        }
        return look;
    }

    /** Other settings are about to be chosen: what they need is prepared before anybody hears of them. */
    public synchronized void settle(SettingsChoice next) {
        choice = next;
        if (seen != null) {
            prepare(seen);
        }
    }

    private synchronized void seen(Look.Seen now) {
        var known = new ArrayList<>(now.gpus());
        for (Gpu before : gpus) {
            boolean answers = known.stream().anyMatch(gpu -> gpu.uuid().equals(before.uuid()));
            if (!answers && now.lost().stream().anyMatch(lost -> isPlaceOf(before, lost))) {
                known.add(before);
            }
        }
        gpus = known;
        seen = now;
        prepare(now);
    }

    private static boolean isPlaceOf(Gpu gpu, Look.LostGpu lost) {
        return lost.pciBusId().isEmpty()
                ? lost.index() == gpu.index()
                : lost.pciBusId().equalsIgnoreCase(gpu.pciBusId());
    }

    private String driverRoot() {
        return choice.on(gpus.stream()
                        .map(gpu -> new KnownGpu(gpu, new KnownGpu.Presence.Answering()))
                        .toList())
                .settings()
                .allocate()
                .driverRoot();
    }

    private void prepare(Look.Seen now) {
        String driverRoot = driverRoot();
        HostNodes found = survey.find(driverRoot);
        CdiNames names = mayResolve()
                ? specs.describe(new RuntimeSpecs.Devices(gpus, now.driverVersion(), driverRoot, found))
                : CdiNames.NOT_WRITTEN;
        HostNodes prepared = found.with(names);
        if (!prepared.equals(told)) {
            told = prepared;
            inbox.accept(new Input.HostNodesFound(prepared));
        }
    }

    /** Whether some rule of the choice has runtimes resolve names: which one holds may change with a GPU. */
    private boolean mayResolve() {
        return Stream.concat(choice.rules().stream().map(SettingsChoice.Rule::chosen), Stream.of(choice.otherwise()))
                .anyMatch(chosen -> chosen.settings().allocate().cdi());
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public List<Sign> await(Duration atMost) {
        return source.await(atMost);
    }

    /** A node may appear long after the driver, and nothing tells of it: it is looked for with every poll. */
    @Override
    public List<Vitals> vitals() {
        anew();
        return source.vitals();
    }

    private synchronized void anew() {
        if (seen != null && !survey.find(driverRoot()).with(told.cdi()).equals(told)) {
            prepare(seen);
        }
    }

    @Override
    public void release() {
        source.release();
    }

    @Override
    public void close() {
        source.close();
    }
}

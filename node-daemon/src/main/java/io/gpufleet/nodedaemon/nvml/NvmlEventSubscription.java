package io.gpufleet.nodedaemon.nvml;

import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.nvml.call.Nvml;
import io.gpufleet.nodedaemon.nvml.call.NvmlExecutors;
import io.gpufleet.nodedaemon.nvml.call.NvmlFailure;
import io.gpufleet.nodedaemon.nvml.call.NvmlReturnCode;
import io.gpufleet.nodedaemon.nvml.call.PendingCall;
import io.gpufleet.nodedaemon.nvml.reader.ScannedGpu;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The event set that is waited for now, with every GPU but those whose registration makes waits fail. An event set is freed
 * only after the last wait for it has returned.
 */
final class NvmlEventSubscription {
    private static final Logger LOG = LoggerFactory.getLogger(NvmlEventSubscription.class);

    private final Nvml nvml;
    private final SessionContext context;
    private final NvmlEventMapper listener;
    private boolean abandoned;
    private @Nullable NvmlEventSet events;
    private Map<String, Nvml.Handle> registered = Map.of();
    private volatile @Nullable NvmlEventWaiter waiter;

    NvmlEventSubscription(Nvml nvml, SessionContext context, NvmlEventMapper listener) {
        this.nvml = nvml;
        this.context = context;
        this.listener = listener;
    }

    /** Waits for the events of these GPUs from now on, and of no others. */
    void update(List<ScannedGpu> gpus) throws NvmlFailure {
        retainExclusions(gpus);
        exclude(gpus);
        List<ScannedGpu> heard = gpus.stream()
                .filter(gpu -> !context.exclusions().contains(gpu.gpu().uuid()))
                .toList();
        Map<String, Nvml.Handle> wanted = byUuid(heard);
        if (events == null || !wanted.equals(registered)) {
            NvmlEventSet next = context.executors()
                    .call(NvmlExecutors.DRIVER, "nvmlEventSetCreate", () -> NvmlEventSet.create(nvml));
            register(next, heard);
            switchTo(next, heard);
            registered = wanted;
        }
    }

    /** The GPU behind each handle; a GPU that replaced another must be registered again. */
    private static Map<String, Nvml.Handle> byUuid(List<ScannedGpu> gpus) {
        return gpus.stream().collect(Collectors.toMap(gpu -> gpu.gpu().uuid(), ScannedGpu::device, (a, _) -> a));
    }

    /** Finds the GPUs that make waits fail; where all do, or none by itself, the library fails, and the set stays as it is. */
    private void exclude(List<ScannedGpu> gpus) {
        EventSetExclusions exclusions = context.exclusions();
        NvmlEventWaiter waiting = waiter;
        boolean failing = waiting != null && waiting.isFailing();
        Map<ScannedGpu, PendingCall<String>> trials = new LinkedHashMap<>();
        gpus.stream()
                .filter(gpu -> exclusions.contains(gpu.gpu().uuid())
                        ? exclusions.isDue(gpu.gpu().uuid())
                        : failing)
                .forEach(gpu -> trials.put(
                        gpu,
                        context.executors()
                                .start(gpu.gpu().index(), "nvmlEventSetWait", () -> tryAlone(gpu.device()))));
        Map<String, NvmlFailure> failed = new LinkedHashMap<>();
        trials.forEach((gpu, trial) -> {
            try {
                String _ = trial.await(SessionContext.STRAGGLER_WAIT);
                if (exclusions.contains(gpu.gpu().uuid())) {
                    include(gpu.gpu().uuid(), "wait for NVML events of the GPU recovered");
                }
            } catch (NvmlFailure e) {
                // A GPU that is busy or hangs tells nothing about its events.
                if (e.code() != NvmlReturnCode.BUSY && e.code() != NvmlReturnCode.HUNG) {
                    failed.put(gpu.gpu().uuid(), e);
                }
            }
        });
        Set<String> all = new HashSet<>(failed.keySet());
        all.addAll(exclusions.uuids());
        failed.forEach((uuid, why) -> {
            if (all.size() < gpus.size() || exclusions.contains(uuid)) {
                exclude(uuid, why);
            }
        });
    }

    private void exclude(String uuid, NvmlFailure why) {
        context.exclusions().failed(uuid);
        context.reportedFaults()
                .open(
                        uuid,
                        FaultKind.EVENT_WAIT,
                        "each wait for NVML events of the GPU fails, it is only polled: " + why.getMessage());
    }

    private void include(String uuid, String proof) {
        context.exclusions().passed(uuid);
        context.reportedFaults().clear(uuid, FaultKind.EVENT_WAIT, proof);
    }

    private void retainExclusions(List<ScannedGpu> gpus) {
        Set<String> present = byUuid(gpus).keySet();
        context.exclusions().uuids().stream()
                .filter(uuid -> !present.contains(uuid))
                .forEach(uuid -> include(uuid, "GPU does not respond or is gone, no event is waited for"));
    }

    /** Fails where the wait for a set with this GPU alone fails. */
    private String tryAlone(Nvml.Handle device) throws NvmlFailure {
        NvmlEventSet alone = NvmlEventSet.create(nvml);
        try {
            if (alone.register(device)) {
                var _ = alone.await(Duration.ZERO);
            }
            return "";
        } finally {
            alone.free();
        }
    }

    /** A GPU whose registration fails is only polled. */
    private void register(NvmlEventSet set, List<ScannedGpu> gpus) throws NvmlFailure {
        Map<ScannedGpu, PendingCall<Boolean>> registrations = new LinkedHashMap<>();
        gpus.forEach(gpu -> registrations.put(
                gpu,
                context.executors()
                        .start(gpu.gpu().index(), "nvmlDeviceRegisterEvents", () -> set.register(gpu.device()))));
        for (Map.Entry<ScannedGpu, PendingCall<Boolean>> registration : registrations.entrySet()) {
            try {
                boolean _ = registration.getValue().await(SessionContext.STRAGGLER_WAIT);
            } catch (NvmlFailure e) {
                if (e.concernsDriver()) {
                    throw e;
                }
                context.reportedFaults().onFailure(registration.getKey().gpu().uuid(), e);
            }
        }
    }

    /** The next set is waited for before the last wait for the old one ends, so that no event is lost and none is late. */
    private void switchTo(NvmlEventSet next, List<ScannedGpu> heard) {
        NvmlEventWaiter ending = waiter;
        NvmlEventSet old = events;
        if (ending != null) {
            ending.close();
        }
        events = next;
        waiter = next.canReport()
                ? new NvmlEventWaiter(
                                next,
                                listener,
                                NvmlSettings.EVENT_WAIT_TIMEOUT,
                                () -> listener.warmUp(heard.getFirst()))
                        .start()
                : null;
        free(ending, old);
    }

    /** Whether a wait never returned, so that a thread is still inside the library. */
    boolean abandoned() {
        return abandoned;
    }

    /** How long the wait in progress has taken, which is a fraction of a second unless the library hangs. */
    Duration waitInFlight() {
        NvmlEventWaiter waiting = waiter;
        return waiting == null ? Duration.ZERO : waiting.waitInFlight();
    }

    void stop() {
        NvmlEventWaiter ending = waiter;
        NvmlEventSet old = events;
        waiter = null;
        events = null;
        registered = Map.of();
        free(ending, old);
    }

    private void free(@Nullable NvmlEventWaiter ending, @Nullable NvmlEventSet old) {
        if (old == null || (ending != null && !ended(ending))) {
            return;
        }
        try {
            context.executors().call(NvmlExecutors.DRIVER, "nvmlEventSetFree", () -> {
                old.free();
                return "";
            });
        } catch (NvmlFailure e) {
            LOG.atWarn().addKeyValue("failure", e.getMessage()).log("NVML event set not freed");
        }
    }

    private boolean ended(NvmlEventWaiter ending) {
        ending.close();
        if (ending.awaitEnd(context.settings().deadline().plus(NvmlSettings.EVENT_WAIT_TIMEOUT))) {
            return true;
        }
        // Freeing an event set under a wait is undefined, so the thread and the event set stay behind.
        abandoned = true;
        LOG.atWarn().log("wait for NVML events hangs, abandoned");
        return false;
    }
}

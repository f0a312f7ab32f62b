package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.DeviceBook;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.HealthBook;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes down what is noticed of the devices, and answers with the facts to be told. */
final class FaultDesk {
    private static final Logger LOG = LoggerFactory.getLogger(FaultDesk.class);
    private static final FaultKey DRIVER = new FaultKey("", new FaultCode.Plain(FaultCode.Kind.DRIVER));
    private static final FaultCode LOST = new FaultCode.Plain(FaultCode.Kind.GPU_LOST);

    private final Counters counters;
    private HealthBook health;

    FaultDesk(HealthBook health, Counters counters) {
        this.health = health;
        this.counters = counters;
    }

    HealthBook health() {
        return health;
    }

    Set<FaultKey> openKeys() {
        return health.open().stream().map(OpenFault::key).collect(Collectors.toSet());
    }

    /** What a look says of the driver and of GPUs that do not answer. */
    List<Fact> looked(Look look, DeviceBook devices, Holdings holdings, Moment now) {
        var seen = new ArrayList<Fact>();
        switch (look) {
            case Look.Seen _ -> {
                health = health.causeGone(DRIVER, "the driver answers", now);
                for (KnownGpu known : devices.gpus()) {
                    var key = new FaultKey(known.gpu().uuid(), LOST);
                    if (known.presence() instanceof KnownGpu.Presence.Missing missing && !health.has(key)) {
                        seen.addAll(observe(fault(key, missing.reason()), devices, holdings, now));
                    }
                }
            }
            case Look.Blind(Look.DriverTrouble trouble, String reason) -> {
                if (isFault(trouble, devices) && !health.has(DRIVER)) {
                    seen.addAll(observe(fault(DRIVER, trouble + ": " + reason), devices, holdings, now));
                }
            }
        }
        return seen;
    }

    private static boolean isFault(Look.DriverTrouble trouble, DeviceBook devices) {
        return switch (trouble) {
            // A node without GPUs has no driver, and nothing is wrong with it.
            case LIBRARY_ABSENT, NOT_LOADED -> !devices.gpus().isEmpty();
            case VERSION_MISMATCH, FAILED -> true;
            case HELD -> false;
        };
    }

    private static Sign.FaultSeen fault(FaultKey key, String message) {
        return new Sign.FaultSeen(key.gpuUuid(), "", key.fault(), FaultOrigin.POLL, message);
    }

    /** A sign of a device source. */
    List<Fact> noticed(Sign sign, DeviceBook devices, Holdings holdings, Moment now) {
        return switch (sign) {
            case Sign.FaultSeen seen -> observe(seen, devices, holdings, now);
            case Sign.CauseGone(String uuid, FaultCode fault, String proof) -> {
                health = health.causeGone(new FaultKey(uuid, fault), proof, now);
                yield List.of();
            }
            case Sign.LookAgain _ -> List.of();
        };
    }

    /** What the devices say of themselves. */
    List<Fact> polled(List<Vitals> all, DeviceBook devices, Holdings holdings, Moment now) {
        var seen = new ArrayList<Fact>();
        for (Vitals vitals : all) {
            var lost = new FaultKey(vitals.gpuUuid(), LOST);
            if (vitals.answers() instanceof Reading.Known<Boolean>(Boolean answers) && !answers && !health.has(lost)) {
                seen.addAll(observe(fault(lost, "the handle does not answer"), devices, holdings, now));
            }
            vitals.recoveryAction().asOptional().ifPresent(action -> {
                var asked = new FaultKey(vitals.gpuUuid(), new FaultCode.RecoveryAsked(action));
                if (action != RecoveryAction.NONE && !health.has(asked)) {
                    seen.addAll(observe(fault(asked, "the driver asks for " + action), devices, holdings, now));
                }
            });
            health = health.polled(vitals, now);
        }
        return seen;
    }

    private List<Fact> observe(Sign.FaultSeen sign, DeviceBook devices, Holdings holdings, Moment now) {
        String model =
                devices.find(sign.gpuUuid()).map(known -> known.gpu().model()).orElse("");
        HealthBook.Observed observed = health.observe(sign, model, now);
        health = observed.next();
        OpenFault fault = observed.fault();
        return switch (observed) {
            case HealthBook.Observed.Same _ -> List.of();
            case HealthBook.Observed.Again _ -> List.of(observed(fault, devices, holdings));
            case HealthBook.Observed.Opened _ -> {
                LOG.atWarn()
                        .addKeyValue("device", sign.gpuUuid())
                        .addKeyValue("fault", fault.key().fault())
                        .addKeyValue("withdraws", fault.withdraws())
                        .addKeyValue("message", sign.message())
                        .log("fault");
                yield List.of(observed(fault, devices, holdings));
            }
        };
    }

    private Fact observed(OpenFault fault, DeviceBook devices, Holdings holdings) {
        counters.fault(fault.key().fault());
        return new Fact.FaultObserved(
                fault, holdings.of(devices.partsOf(fault.key().gpuUuid())));
    }

    /** Faults that are proven gone by now. */
    List<Fact> settle(Moment now) {
        return settled(health.settle(now));
    }

    /** The machine booted anew: every device was reset. */
    List<Fact> afterBoot(String bootId) {
        return settled(health.afterBoot(bootId));
    }

    private List<Fact> settled(HealthBook.Settled settled) {
        health = settled.next();
        var facts = new ArrayList<Fact>();
        for (HealthBook.Cleared cleared : settled.cleared()) {
            LOG.atInfo()
                    .addKeyValue("device", cleared.fault().key().gpuUuid())
                    .addKeyValue("fault", cleared.fault().key().fault())
                    .addKeyValue("proof", cleared.proof())
                    .log("fault is gone");
            facts.add(new Fact.FaultCleared(cleared.fault(), cleared.proof()));
        }
        return facts;
    }

    /** The operator's words about single XIDs changed: open faults are judged anew. */
    void judge(XidOverrides overrides) {
        health = health.judged(overrides);
    }
}

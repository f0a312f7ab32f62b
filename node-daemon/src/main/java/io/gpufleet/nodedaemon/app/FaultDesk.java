package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Cause;
import io.gpufleet.nodedaemon.model.DeviceBook;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.HealthBook;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.KernelReport;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Subcode;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.model.polls.PollBook;
import io.gpufleet.nodedaemon.model.polls.Word;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes down what is noticed of the devices, and answers with the facts to be told. */
final class FaultDesk {
    private static final Logger LOG = LoggerFactory.getLogger(FaultDesk.class);
    private static final FaultKey DRIVER = new FaultKey("", new FaultCode.Plain(FaultCode.Kind.DRIVER));
    private static final FaultCode LOST = new FaultCode.Plain(FaultCode.Kind.GPU_LOST);
    private static final FaultCode MEMORY = new FaultCode.Plain(FaultCode.Kind.MEMORY_UNREADABLE);
    /** Reports of the kernel that wait for the first look; a storm has more of the same. */
    private static final int MOST_EARLY = 256;

    private final Counters counters;
    private final DriverStay driver = new DriverStay();
    private final Map<String, Reading<Long>> energy = new HashMap<>();
    private final List<KernelReport> early = new ArrayList<>();
    private HealthBook health;
    private PollBook polls;
    private boolean worthKeeping;

    FaultDesk(HealthBook health, PollBook polls, Counters counters) {
        this.health = health;
        this.polls = polls;
        this.counters = counters;
        health.open().forEach(fault -> counters.inherited(fault.key()));
    }

    /** What is known of the devices when something is noticed. */
    private record Scene(DeviceBook devices, Holdings holdings, Moment now) {}

    HealthBook health() {
        return health;
    }

    /** What is open, and what is said of it. */
    Map<FaultKey, Subcode> openWords() {
        return health.open().stream()
                .collect(Collectors.toMap(
                        OpenFault::key, fault -> fault.subject().subcode()));
    }

    /** Whether an end came in sight that no fact tells of, so that a restart would forget it; asked once. */
    boolean takeWorthKeeping() {
        boolean worth = worthKeeping;
        worthKeeping = false;
        return worth;
    }

    /** What a look says of the driver and of GPUs that do not answer. */
    List<Fact> looked(Look look, DeviceBook devices, Holdings holdings, Moment now) {
        var scene = new Scene(devices, holdings, now);
        var seen = new ArrayList<Fact>();
        var wentNanos = driver.wentBefore(look, now);
        switch (look) {
            case Look.Seen _ -> {
                health = health.causeGone(DRIVER, "the driver answers", now).driverAnswers(now);
                wentNanos.ifPresent(went -> health = health.driverLoadedAnew(answering(devices), went, now));
                Set<String> uuids =
                        devices.gpus().stream().map(known -> known.gpu().uuid()).collect(Collectors.toSet());
                health = health.tookOutAllBut(uuids, now);
                energy.keySet().retainAll(uuids);
                devices.gpus().forEach(known -> seen.addAll(lookedAt(known, scene)));
            }
            case Look.Blind(Look.DriverTrouble trouble, String reason) -> {
                if (isFault(trouble, devices)) {
                    seen.addAll(unlessStanding(DRIVER, trouble + ": " + reason, scene));
                }
            }
        }
        early.forEach(report -> seen.addAll(resolved(report, scene)));
        early.clear();
        return seen;
    }

    private List<Fact> lookedAt(KnownGpu known, Scene scene) {
        String uuid = known.gpu().uuid();
        return switch (known.presence()) {
            case KnownGpu.Presence.Missing missing -> unlessStanding(new FaultKey(uuid, LOST), missing.reason(), scene);
            case KnownGpu.Presence.Answering _ -> {
                // Before the first poll nothing else says so, and the first list must not offer it.
                boolean firstLook = energy.putIfAbsent(uuid, new Reading.Unavailable<>("not polled")) == null;
                yield firstLook && PollBook.memory(known.gpu().memoryBytes()) instanceof Word.Stands(String message)
                        ? unlessStanding(new FaultKey(uuid, MEMORY), message, scene)
                        : List.of();
            }
        };
    }

    private static Set<String> answering(DeviceBook devices) {
        return devices.gpus().stream()
                .filter(KnownGpu::answers)
                .map(known -> known.gpu().uuid())
                .collect(Collectors.toSet());
    }

    private static boolean isFault(Look.DriverTrouble trouble, DeviceBook devices) {
        return switch (trouble) {
            // A node without GPUs has no driver, and nothing is wrong with it.
            case LIBRARY_ABSENT, NOT_LOADED -> !devices.gpus().isEmpty();
            case VERSION_MISMATCH, FAILED -> true;
            case HELD -> false;
        };
    }

    /** A state is news when it begins, and when it is found again after it was believed gone. */
    private List<Fact> unlessStanding(FaultKey key, String message, Scene scene) {
        return stands(key) ? List.of() : observe(polled(key, message), scene);
    }

    private boolean stands(FaultKey key) {
        return health.find(key)
                .filter(fault -> !(fault.cause() instanceof Cause.Gone))
                .isPresent();
    }

    private static Sign.FaultSeen polled(FaultKey key, String message) {
        return new Sign.FaultSeen(key.gpuUuid(), "", key.fault(), FaultOrigin.POLL, message);
    }

    /** A sign of a device source. */
    List<Fact> noticed(Sign sign, DeviceBook devices, Holdings holdings, Moment now) {
        return switch (sign) {
            case Sign.FaultSeen seen -> {
                // What a source polls we may have polled as well: a state, which is no news twice.
                boolean known = seen.source() == FaultOrigin.POLL && stands(new FaultKey(seen.gpuUuid(), seen.fault()));
                yield known ? List.of() : observe(seen, new Scene(devices, holdings, now));
            }
            case Sign.CauseGone(String uuid, FaultCode fault, String proof) -> {
                health = health.causeGone(new FaultKey(uuid, fault), proof, now);
                worthKeeping = true;
                yield List.of();
            }
            case Sign.LookAgain _, Sign.StartAnew _ -> List.of();
        };
    }

    /** A line of the kernel log; before the first look nobody knows which GPU it means. */
    List<Fact> heard(KernelReport report, boolean looked, DeviceBook devices, Holdings holdings, Moment now) {
        if (looked) {
            return resolved(report, new Scene(devices, holdings, now));
        }
        if (early.size() < MOST_EARLY) {
            early.add(report);
        }
        return List.of();
    }

    private List<Fact> resolved(KernelReport report, Scene scene) {
        // An NVSwitch is nobody's GPU, and a GPU that the driver never got to know has no UUID: the node is concerned.
        String uuid = report.fault() instanceof FaultCode.Sxid
                ? ""
                : scene.devices().at(report.pciBusId()).orElse("");
        var sign = new Sign.FaultSeen(uuid, "", report.fault(), FaultOrigin.KERNEL_LOG, report.message());
        List<Fact> facts = observe(sign, report.subcode(), scene);
        var key = new FaultKey(uuid, report.fault());
        boolean harmless = report.passing()
                || health.find(key).filter(OpenFault::withdraws).isEmpty();
        if (uuid.isEmpty() && harmless) {
            health = health.causeGone(key, "nothing of it stays behind", scene.now());
        }
        return facts;
    }

    /** What the devices say of themselves. */
    List<Fact> polled(List<Vitals> all, DeviceBook devices, Holdings holdings, Moment now) {
        var scene = new Scene(devices, holdings, now);
        var seen = new ArrayList<Fact>();
        counters.polled(all, now.nanos());
        for (Vitals vitals : all) {
            String uuid = vitals.gpuUuid();
            if (vitals.answers() instanceof Reading.Known<Boolean>(Boolean answers) && !answers) {
                seen.addAll(unlessStanding(new FaultKey(uuid, LOST), "the handle does not answer", scene));
            }
            vitals.recoveryAction()
                    .asOptional()
                    .filter(action -> action != RecoveryAction.NONE)
                    .ifPresent(action -> {
                        var asked = new FaultKey(uuid, new FaultCode.RecoveryAsked(action));
                        seen.addAll(unlessStanding(asked, "the driver asks for " + action, scene));
                    });
            seen.addAll(ruled(vitals, scene));
            health = health.polled(vitals, now);
            if (vitals.energyMillijoules() instanceof Reading.Known<Long>) {
                energy.put(uuid, vitals.energyMillijoules());
            }
        }
        return seen;
    }

    private List<Fact> ruled(Vitals vitals, Scene scene) {
        PollBook.Judged judged = polls.polled(vitals, scene.now());
        polls = judged.next();
        var seen = new ArrayList<Fact>();
        judged.words().forEach((kind, word) -> {
            var key = new FaultKey(vitals.gpuUuid(), new FaultCode.Plain(kind));
            switch (word) {
                case Word.Happened(String message) -> seen.addAll(observe(polled(key, message), scene));
                case Word.Stands(String message) -> seen.addAll(unlessStanding(key, message, scene));
                case Word.Over(String proof) -> health = health.causeGone(key, proof, scene.now());
                case Word.Unclear _, Word.Mute _ -> {}
            }
        });
        return seen;
    }

    private List<Fact> observe(Sign.FaultSeen sign, Scene scene) {
        return observe(sign, Subcode.NONE, scene);
    }

    private List<Fact> observe(Sign.FaultSeen sign, Subcode subcode, Scene scene) {
        var devices = scene.devices();
        var subject = new OpenFault.Subject(
                sign.migUuid(),
                devices.find(sign.gpuUuid()).map(known -> known.gpu().model()).orElse(""),
                energy.getOrDefault(sign.gpuUuid(), new Reading.Unavailable<>("not polled")),
                subcode);
        HealthBook.Observed observed = health.observe(sign, subject, scene.now());
        health = observed.next();
        OpenFault fault = observed.fault();
        return switch (observed) {
            case HealthBook.Observed.Same _ -> List.of();
            // It was told already: the better word goes out with what is open.
            case HealthBook.Observed.Learnt _ -> {
                log(fault);
                worthKeeping = true;
                yield List.of();
            }
            case HealthBook.Observed.Again _ -> List.of(observed(fault, scene));
            case HealthBook.Observed.Opened _ -> {
                log(fault);
                yield List.of(observed(fault, scene));
            }
        };
    }

    private static void log(OpenFault fault) {
        LOG.atWarn()
                .addKeyValue("device", fault.key().gpuUuid())
                .addKeyValue("fault", fault.key().fault())
                .addKeyValue("withdraws", fault.withdraws())
                .addKeyValue("message", fault.message())
                .log("fault");
    }

    private Fact observed(OpenFault fault, Scene scene) {
        counters.fault(fault.key(), scene.now().nanos());
        return new Fact.FaultObserved(
                fault, scene.holdings().of(scene.devices().partsOf(fault.key().gpuUuid())));
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

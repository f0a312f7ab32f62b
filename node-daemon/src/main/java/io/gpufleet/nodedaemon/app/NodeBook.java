package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.DeviceBook;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.FaultPolicy;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.HealthBook;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Offers;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of the node, written by one thread: takes an input, shows the kubelet what follows first, then tells the
 * bus. Whoever holds the kubelet's answer up, pods pay for it.
 */
final class NodeBook {
    private static final Logger LOG = LoggerFactory.getLogger(NodeBook.class);
    private static final FaultKey DRIVER = new FaultKey("", new FaultCode.Plain(FaultCode.Kind.DRIVER));
    private static final FaultCode LOST = new FaultCode.Plain(FaultCode.Kind.GPU_LOST);

    private final HostFacts host;
    private final NodeDoors doors;
    private final NodeTimers timers;
    private final boolean obey;
    private DeviceBook devices;
    private HealthBook health;
    private Overlay overlay;
    private Holdings holdings = Holdings.UNKNOWN;
    private Offers offers = Offers.NONE;
    private Set<FaultKey> toldOpen = Set.of();
    private Fact.Announced announced;
    private long listVersion;
    private boolean looked;
    private boolean announcedOnce;

    NodeBook(HostFacts host, FaultPolicy policy, Overlay overlay, boolean obey, NodeDoors doors, Moment now) {
        this.host = host;
        this.doors = doors;
        this.obey = obey;
        this.overlay = overlay;
        this.timers = new NodeTimers(now.nanos(), host.bootId());
        StateStore.Remembered remembered = doors.store().load();
        this.devices = DeviceBook.remembering(remembered.gpus(), now);
        this.health = HealthBook.inheriting(policy, remembered.faults(), now);
        this.announced = snapshot(Fact.Reason.START);
        if (!remembered.bootId().isEmpty() && !remembered.bootId().equals(host.bootId())) {
            settle(health.afterBoot(host.bootId()), now);
        }
    }

    NodeTimers timers() {
        return timers;
    }

    HealthBook health() {
        return health;
    }

    Offers offers() {
        return offers;
    }

    Look lastLook() {
        return devices.lastLook();
    }

    boolean looked() {
        return looked;
    }

    void handle(Input input, Moment now) {
        switch (input) {
            case Input.Looked(Look look) -> looked(look, now);
            case Input.Noticed(Sign sign) -> noticed(sign, now);
            case Input.Polled polled -> polled(polled, now);
            case Input.OverlayRead(Overlay read) -> {
                overlay = read;
                tell(List.of(), now);
            }
            case Input.HoldingsSeen(Holdings seen) -> held(seen, now);
            case Input.HoldingsUnknown(String reason) -> {
                LOG.atDebug().addKeyValue("reason", reason).log("holders are unknown");
                timers.holders().answered(now.nanos());
            }
            case Input.CheckpointChanged _ -> timers.holders().soon(now.nanos());
            case Input.Granted(List<String> ids, long micros) -> {
                timers.holders().allocated(now.nanos());
                doors.facts().publish(new Fact.Allocated(Offers.RESOURCE, ids, doors.strategies(), micros), now);
            }
            case Input.BacklogSent(boolean lost) -> repeat(lost, now);
            case Input.Tick _ -> {}
        }
        due(now);
    }

    private void looked(Look look, Moment now) {
        if (look instanceof Look.Blind(Look.DriverTrouble trouble, String reason)
                && (!looked || !look.equals(devices.lastLook()))) {
            LOG.atWarn()
                    .addKeyValue("state", trouble)
                    .addKeyValue("reason", reason)
                    .log("the GPU driver does not answer, it is asked again");
        }
        devices = devices.after(look, now);
        var seen = new ArrayList<Fact>();
        switch (look) {
            case Look.Seen _ -> health = health.causeGone(DRIVER, "the driver answers", now);
            case Look.Blind(Look.DriverTrouble trouble, String reason) -> {
                if (isFault(trouble) && !health.has(DRIVER)) {
                    seen.addAll(observe(fault(DRIVER, trouble + ": " + reason), now));
                }
            }
        }
        if (look instanceof Look.Seen) {
            for (KnownGpu known : devices.gpus()) {
                var key = new FaultKey(known.gpu().uuid(), LOST);
                if (known.presence() instanceof KnownGpu.Presence.Missing missing && !health.has(key)) {
                    seen.addAll(observe(fault(key, missing.reason()), now));
                }
            }
        }
        boolean first = !looked;
        looked = true;
        tell(seen, now);
        if (first) {
            announce(Fact.Reason.START, now);
            open(now);
            save();
        }
    }

    private boolean isFault(Look.DriverTrouble trouble) {
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

    private void noticed(Sign sign, Moment now) {
        switch (sign) {
            case Sign.FaultSeen seen -> tell(observe(seen, now), now);
            case Sign.CauseGone(String uuid, FaultCode fault, String proof) -> {
                health = health.causeGone(new FaultKey(uuid, fault), proof, now);
                tell(List.of(), now);
            }
            case Sign.LookAgain _ -> {}
        }
    }

    private List<Fact> observe(Sign.FaultSeen sign, Moment now) {
        String model =
                devices.find(sign.gpuUuid()).map(known -> known.gpu().model()).orElse("");
        HealthBook.Observed observed = health.observe(sign, model, now);
        health = observed.next();
        OpenFault fault = observed.fault();
        return switch (observed) {
            case HealthBook.Observed.Same _ -> List.of();
            case HealthBook.Observed.Again _ -> List.of(observed(fault));
            case HealthBook.Observed.Opened _ -> {
                LOG.atWarn()
                        .addKeyValue("device", sign.gpuUuid())
                        .addKeyValue("fault", fault.key().fault())
                        .addKeyValue("withdraws", fault.withdraws())
                        .addKeyValue("message", sign.message())
                        .log("fault");
                yield List.of(observed(fault));
            }
        };
    }

    private Fact observed(OpenFault fault) {
        doors.counters().fault(fault.key().fault());
        return new Fact.FaultObserved(fault, holdings.of(fault.key().gpuUuid()));
    }

    private void polled(Input.Polled polled, Moment now) {
        var seen = new ArrayList<Fact>();
        for (Vitals vitals : polled.vitals()) {
            var lost = new FaultKey(vitals.gpuUuid(), LOST);
            if (vitals.answers() instanceof Reading.Known<Boolean>(Boolean answers) && !answers && !health.has(lost)) {
                seen.addAll(observe(fault(lost, "the handle does not answer"), now));
            }
            vitals.recoveryAction().asOptional().ifPresent(action -> {
                var asked = new FaultKey(vitals.gpuUuid(), new FaultCode.RecoveryAsked(action));
                if (action != RecoveryAction.NONE && !health.has(asked)) {
                    seen.addAll(observe(fault(asked, "the driver asks for " + action), now));
                }
            });
            health = health.polled(vitals, now);
        }
        tell(seen, now);
        if (polled.publish()) {
            doors.facts().publish(new Fact.Sampled(polled.vitals(), memory()), now);
        }
    }

    private Map<String, Long> memory() {
        return devices.gpus().stream()
                .map(KnownGpu::gpu)
                .filter(gpu -> gpu.memoryBytes() instanceof Reading.Known<Long>)
                .collect(Collectors.toMap(Gpu::uuid, gpu -> gpu.memoryBytes().orElse(0L)));
    }

    private void held(Holdings seen, Moment now) {
        timers.holders().answered(now.nanos());
        boolean changed = !seen.equals(holdings);
        holdings = seen;
        if (changed) {
            publishHeld(now);
            tell(List.of(), now);
        }
    }

    private void publishHeld(Moment now) {
        var models = devices.gpus().stream().map(KnownGpu::gpu).collect(Collectors.toMap(Gpu::uuid, Gpu::shortModel));
        doors.facts().publish(new Fact.Held(holdings, models), now);
        timers.heldSent(now.nanos());
    }

    /** After a backlog: what stood in it is old by now, so what is true now follows. */
    private void repeat(boolean lost, Moment now) {
        open(now);
        if (lost) {
            announce(Fact.Reason.AFTER_LOSS, now);
            publishHeld(now);
        }
    }

    /** Shows the kubelet what follows from the books, then tells the bus. */
    private void tell(List<Fact> seen, Moment now) {
        if (!looked) {
            seen.forEach(fact -> doors.facts().publish(fact, now));
            return;
        }
        Offers before = offers;
        Overlay inForce = obey ? overlay.inForce(host.bootId()) : Overlay.TRUST;
        offers = before.next(devices, health, inForce, holdings.heldIds(), now);
        if (!offers.listed().equals(before.listed()) || listVersion == 0) {
            doors.show(offers.list(++listVersion));
        }
        seen.forEach(fact -> doors.facts().publish(fact, now));
        List<Offer> changed = offers.changedSince(before);
        for (Offer offer : changed) {
            doors.counters().offerChanged();
            doors.facts().publish(new Fact.Offered(offer), now);
        }
        if (!openKeys().equals(toldOpen) || !changed.isEmpty()) {
            open(now);
        }
        if (!seen.isEmpty()) {
            save();
        }
        if (announcedOnce && !snapshot(Fact.Reason.CHANGED).sameAs(announced)) {
            announce(Fact.Reason.CHANGED, now);
            save();
        }
    }

    private void due(Moment now) {
        if (!looked) {
            return;
        }
        settle(health.settle(now), now);
        if (offers.unhealthySince().size() > 0) {
            tell(List.of(), now);
        }
        if (timers.faultsOpenDue(now.nanos()) && !health.open().isEmpty()) {
            open(now);
        }
        if (timers.announceDue(now.nanos())) {
            announce(Fact.Reason.PERIODIC, now);
        }
        if (timers.heldDue(now.nanos())) {
            publishHeld(now);
        }
    }

    private void settle(HealthBook.Settled settled, Moment now) {
        health = settled.next();
        if (settled.cleared().isEmpty()) {
            return;
        }
        var facts = new ArrayList<Fact>();
        for (HealthBook.Cleared cleared : settled.cleared()) {
            LOG.atInfo()
                    .addKeyValue("device", cleared.fault().key().gpuUuid())
                    .addKeyValue("fault", cleared.fault().key().fault())
                    .addKeyValue("proof", cleared.proof())
                    .log("fault is gone");
            facts.add(new Fact.FaultCleared(cleared.fault(), cleared.proof()));
        }
        tell(facts, now);
        save();
    }

    private Set<FaultKey> openKeys() {
        return health.open().stream().map(OpenFault::key).collect(Collectors.toSet());
    }

    private void open(Moment now) {
        toldOpen = openKeys();
        doors.facts()
                .publish(
                        new Fact.FaultsOpen(
                                List.copyOf(health.open()),
                                List.copyOf(offers.listed().values())),
                        now);
        timers.faultsOpenSent(now.nanos());
    }

    private Fact.Announced snapshot(Fact.Reason reason) {
        return new Fact.Announced(reason, host, devices.lastLook(), devices.gpus(), offers.listed());
    }

    private void announce(Fact.Reason reason, Moment now) {
        announced = snapshot(reason);
        announcedOnce = true;
        doors.facts().publish(announced, now);
        timers.announced(now.nanos());
    }

    private void save() {
        doors.store()
                .save(new StateStore.Remembered(
                        host.bootId(),
                        List.copyOf(health.open()),
                        devices.gpus().stream().map(KnownGpu::gpu).toList()));
    }
}

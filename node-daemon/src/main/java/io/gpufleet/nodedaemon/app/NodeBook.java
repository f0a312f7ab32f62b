package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceBook;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.FaultPolicy;
import io.gpufleet.nodedaemon.model.Gpu;
import io.gpufleet.nodedaemon.model.HealthBook;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Moment;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Offers;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.PlannedDevice;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Readout;
import io.gpufleet.nodedaemon.model.ResourcePlan;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.SideStates;
import io.gpufleet.nodedaemon.model.Strangers;
import io.gpufleet.nodedaemon.model.Subcode;
import io.gpufleet.nodedaemon.model.Surroundings;
import io.gpufleet.nodedaemon.model.Vitals;
import io.gpufleet.nodedaemon.model.polls.PollBook;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of the node, written by one thread: takes an input, shows the kubelet what follows first, then tells the
 * bus. Whoever holds the kubelet's answer up, pods pay for it.
 */
final class NodeBook {
    private static final Logger LOG = LoggerFactory.getLogger(NodeBook.class);

    /** NVLinks take a while to come up after a boot. */
    private static final Duration BOOT_GRACE = Duration.ofMinutes(5);

    private final HostFacts host;
    private final NodeDoors doors;
    private final NodeTimers timers;
    private final boolean obey;
    private final FaultDesk faults;
    private DeviceBook devices;
    private PluginSettings settings;
    private SettingsChoice choice;
    private Overlay overlay;
    private SideStates sides = SideStates.NONE;
    private Holdings holdings = Holdings.UNKNOWN;
    private Strangers strangers = Strangers.NONE;
    private Offers offers = Offers.NONE;
    private List<Vitals> vitals = List.of();
    private long vitalsNanos;
    private Map<FaultKey, Subcode> toldOpen = Map.of();
    private List<String> complaints = List.of();
    private Fact.Announced announced;
    private long listVersion;
    private boolean ignored;
    private boolean looked;
    private boolean announcedOnce;

    NodeBook(HostFacts host, FaultPolicy policy, Overlay overlay, boolean obey, NodeDoors doors, Moment now) {
        this.host = host;
        this.doors = doors;
        this.obey = obey;
        this.overlay = overlay;
        this.settings = doors.desk().allocator().settings();
        this.choice = SettingsChoice.always(settings, "start");
        this.timers = new NodeTimers(now.nanos(), host.bootId());
        StateStore.Remembered remembered = doors.store().load();
        this.devices = DeviceBook.remembering(remembered.gpus(), now);
        this.faults = new FaultDesk(
                HealthBook.inheriting(policy.with(settings.xids()), remembered.faults(), now),
                PollBook.empty(now.nanos() + BOOT_GRACE.minus(host.uptime()).toNanos()),
                doors.counters());
        this.announced = snapshot(Fact.Reason.START);
        if (!remembered.bootId().isEmpty() && !remembered.bootId().equals(host.bootId())) {
            cleared(faults.afterBoot(host.bootId()), now);
        }
    }

    NodeTimers timers() {
        return timers;
    }

    HealthBook health() {
        return faults.health();
    }

    Offers offers() {
        return offers;
    }

    Readout readout() {
        return new Readout(
                devices,
                vitals,
                vitalsNanos,
                holdings,
                strangers.unheld(),
                offers,
                List.copyOf(faults.health().open()));
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
            case Input.Noticed(var sign) -> tell(faults.noticed(sign, devices, holdings, now), now);
            case Input.KernelSaid(var report) -> tell(faults.heard(report, looked, devices, holdings, now), now);
            case Input.Polled polled -> polled(polled, now);
            case Input.VerdictsIgnored(boolean word) -> {
                ignored = word;
                tell(List.of(), now);
            }
            case Input.OverlayRead(Overlay read) -> {
                overlay = read;
                tell(List.of(), now);
            }
            case Input.SettingsChosen(SettingsChoice next) -> {
                choice = next;
                adoptSettings();
                tell(List.of(), now);
            }
            case Input.HostNodesFound(HostNodes nodes) -> doors.desk().allocator(new Allocator(settings, nodes));
            case Input.SidesSaid(SideStates said) -> {
                sides = said;
                tell(List.of(), now);
            }
            case Input.HoldingsSeen(Holdings seen) -> held(seen, now);
            case Input.HoldingsUnknown unknown -> unknown(unknown, now);
            case Input.CheckpointChanged _ -> timers.holders().soon(now.nanos());
            case Input.Granted(String resource, List<String> ids, long micros) -> {
                timers.holders().allocated(now.nanos());
                doors.facts().publish(new Fact.Allocated(resource, ids, strategies(), micros), now);
            }
            case Input.BacklogSent(boolean lost) -> repeat(lost, now);
            case Input.Fence(Runnable reached) -> reached.run();
            case Input.Tick _ -> {}
        }
        due(now);
        if (looked && faults.takeWorthKeeping()) {
            save();
        }
    }

    private List<String> strategies() {
        return settings.allocate().strategies().stream()
                .map(Strategy::word)
                .sorted()
                .toList();
    }

    private void looked(Look look, Moment now) {
        if (look instanceof Look.Blind(Look.DriverTrouble trouble, String reason)
                && trouble != Look.DriverTrouble.HELD
                && (!looked || !look.equals(devices.lastLook()))) {
            LOG.atWarn()
                    .addKeyValue("state", trouble)
                    .addKeyValue("reason", reason)
                    .log("the GPU driver does not answer, it is asked again");
        }
        devices = devices.after(look, now);
        adoptSettings();
        List<Fact> seen = faults.looked(look, devices, holdings, now);
        boolean first = !looked;
        looked = true;
        tell(seen, now);
        if (first) {
            announce(Fact.Reason.START, now);
            open(now);
            save();
        }
    }

    /** What the choice says for the GPUs that are known now; lost ones count, or a loss would rename the others. */
    private void adoptSettings() {
        SettingsChoice.Chosen chosen = choice.on(devices.gpus());
        if (chosen.settings().equals(settings)) {
            return;
        }
        LOG.atInfo().addKeyValue("origin", chosen.origin()).log("other settings are in force");
        settings = chosen.settings();
        doors.desk().allocator(new Allocator(settings, doors.desk().allocator().host()));
        faults.judge(settings.xids());
    }

    private void polled(Input.Polled polled, Moment now) {
        vitals = polled.vitals();
        vitalsNanos = now.nanos();
        tell(faults.polled(polled.vitals(), devices, holdings, now), now);
        Strangers before = strangers;
        strangers = before.polled(vitals, holdings, devices.partsOf(""), now);
        if (strangers.differsFrom(before)) {
            publishHeld(now);
        }
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

    private void unknown(Input.HoldingsUnknown unknown, Moment now) {
        LOG.atDebug().addKeyValue("reason", unknown.reason()).log("holders are unknown");
        if (unknown.tooOften()) {
            timers.holders().refused(now.nanos());
        } else {
            timers.holders().answered(now.nanos());
        }
    }

    private void held(Holdings told, Moment now) {
        timers.holders().answered(now.nanos());
        Holdings seen = told.placed(devices.gpus());
        boolean changed = !seen.equals(holdings);
        holdings = seen;
        if (changed) {
            publishHeld(now);
            tell(List.of(), now);
        }
    }

    private void publishHeld(Moment now) {
        doors.facts()
                .publish(
                        new Fact.Held(
                                holdings,
                                strangers.unheld(),
                                List.copyOf(offers.listed().values())),
                        now);
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
        Overlay inForce = obey && !ignored ? overlay.inForce(host.bootId()) : Overlay.TRUST;
        List<PlannedDevice> plan = plan().devices();
        var surroundings = new Surroundings(inForce, holdings.heldIds(), mpsTrouble(plan));
        offers = before.next(plan, devices.lastLook(), faults.health(), surroundings, now);
        if (!offers.listed().equals(before.listed()) || listVersion == 0) {
            listVersion++;
            doors.show(offers.lists(listVersion), listVersion);
        }
        seen.forEach(fact -> doors.facts().publish(fact, now));
        List<Offer> changed = offers.changedSince(before);
        for (Offer offer : changed) {
            doors.counters().offerChanged(offer.healthy());
            doors.facts().publish(new Fact.Offered(offer), now);
        }
        if (!faults.openWords().equals(toldOpen) || !changed.isEmpty()) {
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

    private Map<String, String> mpsTrouble(List<PlannedDevice> plan) {
        return settings.sharing().means() != SharePlan.Means.MPS
                ? Map.of()
                : sides.mpsTrouble(plan.stream()
                        .filter(device -> device.replicas() > 1)
                        .map(PlannedDevice::resource)
                        .collect(Collectors.toSet()));
    }

    private ResourcePlan plan() {
        var plan = ResourcePlan.of(devices.gpus(), settings);
        if (!plan.complaints().equals(complaints)) {
            complaints = plan.complaints();
            complaints.forEach(complaint ->
                    LOG.atWarn().addKeyValue("complaint", complaint).log("not all devices can be offered"));
        }
        return plan;
    }

    private void due(Moment now) {
        if (!looked) {
            return;
        }
        cleared(faults.settle(now), now);
        if (offers.unhealthySince().size() > 0) {
            tell(List.of(), now);
        }
        if (timers.faultsOpenDue(now.nanos()) && !faults.health().open().isEmpty()) {
            open(now);
        }
        if (timers.announceDue(now.nanos())) {
            announce(Fact.Reason.PERIODIC, now);
        }
        if (timers.heldDue(now.nanos())) {
            publishHeld(now);
        }
    }

    private void cleared(List<Fact> facts, Moment now) {
        if (!facts.isEmpty()) {
            tell(facts, now);
            save();
        }
    }

    private void open(Moment now) {
        toldOpen = faults.openWords();
        doors.facts().publish(new Fact.FaultsOpen(List.copyOf(faults.health().open()), offers.perGpu()), now);
        timers.faultsOpenSent(now.nanos());
    }

    private Fact.Announced snapshot(Fact.Reason reason) {
        return new Fact.Announced(reason, host, devices.lastLook(), devices.gpus(), offers.listed(), settings, sides);
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
                        List.copyOf(faults.health().open()),
                        devices.gpus().stream().map(KnownGpu::gpu).toList()));
    }
}

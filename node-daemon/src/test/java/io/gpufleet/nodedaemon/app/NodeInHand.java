package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.second;
import static io.gpufleet.nodedaemon.model.Some.uuid;

import io.gpufleet.nodedaemon.model.Allocator;
import io.gpufleet.nodedaemon.model.DeviceList;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.FaultPolicy;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.HostNodes;
import io.gpufleet.nodedaemon.model.KernelReport;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Overlay;
import io.gpufleet.nodedaemon.model.SettingsChoice;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.Subcode;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.nodedaemon.model.settings.XidOverrides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** A node whose driver, kernel, kubelet and clock are in the hands of a test; with the catalogue's policy. */
final class NodeInHand {
    static final Duration DWELL = Duration.ofMinutes(5);

    private final List<Fact> facts = new ArrayList<>();
    private final Map<String, DeviceList> shown = new TreeMap<>();
    private final KeptInMemory store = new KeptInMemory();
    private PluginSettings settings = PluginSettings.STANDARD;
    private final Set<String> everHealthy = new HashSet<>();
    private int shownLists;
    private double now;
    private NodeBook book;

    private static final class KeptInMemory implements StateStore {
        private Remembered kept = Remembered.NOTHING;

        @Override
        public Remembered load() {
            return kept;
        }

        @Override
        public void save(Remembered state) {
            kept = state;
        }
    }

    NodeInHand(Look first) {
        book = begin("boot-1", Duration.ofDays(1));
        looks(first);
    }

    NodeInHand(Look first, PluginSettings settings, Duration uptime) {
        this.settings = settings;
        book = begin("boot-1", uptime);
        looks(first);
    }

    private NodeBook begin(String bootId, Duration uptime) {
        var desk = new KubeletDesk(
                new Allocator(settings, HostNodes.of(List.of())), () -> second(now), new Counters(), _ -> {});
        var doors = new NodeDoors((fact, _) -> facts.add(fact), store, desk, this::show, new Counters());
        return new NodeBook(
                new HostFacts("0.1.0", "simulated", "6.1", "", bootId, uptime),
                new FaultPolicy(XidPolicy.withdrawing(), DWELL, XidOverrides.NONE),
                Overlay.TRUST,
                true,
                doors,
                second(now));
    }

    private void show(Map<String, DeviceList> lists) {
        shownLists++;
        shown.putAll(lists);
        everHealthy.addAll(healthy());
    }

    /** The daemon is killed, and starts again in the same boot or in another. */
    NodeInHand restarts(String bootId, Look look) {
        shown.clear();
        book = begin(bootId, Duration.ofDays(1));
        return looks(look);
    }

    NodeInHand after(double seconds) {
        now += seconds;
        return takes(new Input.Tick());
    }

    NodeInHand takes(Input input) {
        book.handle(input, second(now));
        return this;
    }

    NodeInHand looks(Look look) {
        return takes(new Input.Looked(look));
    }

    NodeInHand polls(SomeVitals... vitals) {
        return takes(new Input.Polled(Arrays.stream(vitals).map(SomeVitals::now).toList(), false));
    }

    /** NVML tells of an XID, as the source that watches it. */
    NodeInHand xid(int gpu, int code) {
        return takes(new Input.Noticed(
                new Sign.FaultSeen(uuid(gpu), "", new FaultCode.Xid(code), FaultOrigin.NVML_EVENT, "XID " + code)));
    }

    /** NVML's source says that it is over. */
    NodeInHand over(int gpu, int code) {
        return takes(new Input.Noticed(new Sign.CauseGone(uuid(gpu), new FaultCode.Xid(code), "as the source says")));
    }

    /** The kernel prints it, with the address as the driver writes it. */
    NodeInHand kernelSays(int gpu, FaultCode fault) {
        return takes(new Input.KernelSaid(new KernelReport("000" + gpu + ":00:00", fault, "printed", false)));
    }

    /** The same of a line that names a part of an NVLink. */
    NodeInHand kernelSays(int gpu, int xid, Subcode subcode) {
        return takes(new Input.KernelSaid(new KernelReport(
                "000" + gpu + ":00:00", new FaultCode.Xid(xid), subcode, "printed " + subcode.name(), false)));
    }

    NodeInHand chooses(XidOverrides xids) {
        settings = new PluginSettings(settings.mig(), settings.sharing(), settings.order(), settings.allocate(), xids);
        return takes(new Input.SettingsChosen(SettingsChoice.always(settings, "test")));
    }

    /** Ids that the kubelet knows, whether it may hand them out or not. */
    List<String> listed() {
        return shown.values().stream()
                .flatMap(list -> list.devices().stream())
                .map(Offer::id)
                .sorted()
                .toList();
    }

    /** Ids that it could once have handed out. */
    Set<String> everHealthy() {
        return everHealthy;
    }

    /** How often it was shown lists. */
    int shownLists() {
        return shownLists;
    }

    /** Ids that the kubelet may hand out, of every resource. */
    List<String> healthy() {
        return shown.values().stream()
                .flatMap(list -> list.devices().stream())
                .filter(Offer::healthy)
                .map(Offer::id)
                .sorted()
                .toList();
    }

    List<FaultCode> open() {
        return book.health().open().stream().map(fault -> fault.key().fault()).toList();
    }

    List<OpenFault> faults() {
        return List.copyOf(book.health().open());
    }

    <F extends Fact> List<F> told(Class<F> type) {
        return facts.stream().filter(type::isInstance).map(type::cast).toList();
    }
}

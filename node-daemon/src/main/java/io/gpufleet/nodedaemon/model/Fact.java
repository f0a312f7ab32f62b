package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.util.List;
import java.util.Map;

/** What the daemon tells the world; each is one event on the bus. */
public sealed interface Fact {
    /** Everything that the node has. */
    record Announced(
            Reason reason,
            HostFacts host,
            Look look,
            List<KnownGpu> gpus,
            Map<String, Offer> offers,
            PluginSettings settings,
            SideStates sides)
            implements Fact {
        /** Copies. */
        public Announced {
            gpus = List.copyOf(gpus);
            offers = Map.copyOf(offers);
        }

        /** Whether it says the same, for whatever reason it is said. */
        public boolean sameAs(Announced other) {
            return host.equals(other.host)
                    && look.equals(other.look)
                    && gpus.equals(other.gpus)
                    && offers.equals(other.offers)
                    && settings.equals(other.settings)
                    && sides.equals(other.sides);
        }
    }

    /** Why a snapshot is sent. */
    enum Reason {
        /** The daemon started. */
        START,
        /** Something in it changed. */
        CHANGED,
        /** Events were lost before. */
        AFTER_LOSS,
        /** Nothing changed; sent now and then so that a new reader finds it. */
        PERIODIC
    }

    /** The daemon stops in good order. */
    record Departed(String reason) implements Fact {}

    /** A fault was seen, and these held the device at that instant. */
    record FaultObserved(OpenFault fault, List<Holder> holders) implements Fact {
        /** Copies the list. */
        public FaultObserved {
            holders = List.copyOf(holders);
        }
    }

    /** A fault is proven gone. */
    record FaultCleared(OpenFault fault, String proof) implements Fact {}

    /** Every fault that is open now, and what the kubelet is told. */
    record FaultsOpen(List<OpenFault> faults, List<Offer> offers) implements Fact {
        /** Copies the lists. */
        public FaultsOpen {
            faults = List.copyOf(faults);
            offers = List.copyOf(offers);
        }
    }

    /** What the kubelet is told of one device now. */
    record Offered(Offer offer) implements Fact {}

    /** Allocate was answered. */
    record Allocated(String resource, List<String> deviceIds, List<String> strategies, long micros) implements Fact {
        /** Copies the lists. */
        public Allocated {
            deviceIds = List.copyOf(deviceIds);
            strategies = List.copyOf(strategies);
        }
    }

    /** Who holds what, who uses what without holding it, and what is offered: it tells what the ids stand for. */
    record Held(Holdings holdings, List<UnheldUse> unheld, List<Offer> offers) implements Fact {
        /** Copies the lists. */
        public Held {
            unheld = List.copyOf(unheld);
            offers = List.copyOf(offers);
        }
    }

    /** One sample of every device; memory in all by GPU UUID. */
    record Sampled(List<Vitals> vitals, Map<String, Long> memoryBytes) implements Fact {
        /** Copies. */
        public Sampled {
            vitals = List.copyOf(vitals);
            memoryBytes = Map.copyOf(memoryBytes);
        }
    }
}

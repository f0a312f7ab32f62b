package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.allocation.CompanionStatus;
import io.gpufleet.nodedaemon.model.allocation.OfferedDevice;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import io.gpufleet.nodedaemon.model.device.GpuSample;
import io.gpufleet.nodedaemon.model.device.HostInfo;
import io.gpufleet.nodedaemon.model.device.KnownGpu;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.holders.UnallocatedUse;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** A fact that the daemon publishes; each is one event. */
public sealed interface NodeFact {
    /** Snapshot of the node's devices and settings. */
    record Announced(
            Reason reason,
            HostInfo host,
            DeviceScan scan,
            List<KnownGpu> gpus,
            Map<String, OfferedDevice> offers,
            PluginSettings settings,
            CompanionStatus companions,
            Instant gpusKnownSince)
            implements NodeFact {
        /** Copies. */
        public Announced {
            gpus = List.copyOf(gpus);
            offers = Map.copyOf(offers);
        }

        /** Whether both are equal apart from the reason. */
        public boolean sameAs(Announced other) {
            return host.equals(other.host)
                    && scan.equals(other.scan)
                    && gpus.equals(other.gpus)
                    && offers.equals(other.offers)
                    && settings.equals(other.settings)
                    && companions.equals(other.companions)
                    && gpusKnownSince.equals(other.gpusKnownSince);
        }
    }

    /** Why a snapshot is published. */
    enum Reason {
        /** The daemon started. */
        START,
        /** Its content changed. */
        CHANGED,
        /** Earlier events were lost. */
        AFTER_LOSS,
        /** Nothing changed; repeated for new consumers. */
        PERIODIC
    }

    /** The daemon shuts down. */
    record Departed(String reason) implements NodeFact {}

    /** A fault was observed, with the holders of the device at that time. */
    record FaultObserved(OpenFault fault, List<Holder> holders) implements NodeFact {
        /** Copies the list. */
        public FaultObserved {
            holders = List.copyOf(holders);
        }
    }

    /** A fault was closed, with the proof. */
    record FaultCleared(OpenFault fault, String proof) implements NodeFact {}

    /**
     * Every open fault, and the offered devices.
     *
     * @param knownSinceEpoch epoch of the first daemon whose faults are known; 0 for those of all
     */
    record FaultsOpen(List<OpenFault> faults, List<OfferedDevice> offers, long knownSinceEpoch) implements NodeFact {
        /** Copies the lists. */
        public FaultsOpen {
            faults = List.copyOf(faults);
            offers = List.copyOf(offers);
        }
    }

    /** The health of one device as reported to the kubelet. */
    record Offered(OfferedDevice offer) implements NodeFact {}

    /** An Allocate call succeeded. */
    record Allocated(String resource, List<String> deviceIds, List<String> strategies, long micros)
            implements NodeFact {
        /** Copies the lists. */
        public Allocated {
            deviceIds = List.copyOf(deviceIds);
            strategies = List.copyOf(strategies);
        }
    }

    /** Holders of devices, use without an allocation, and the offered devices, which map the ids to devices. */
    record Held(Holdings holdings, List<UnallocatedUse> unallocated, List<OfferedDevice> offers) implements NodeFact {
        /** Copies the lists. */
        public Held {
            unallocated = List.copyOf(unallocated);
            offers = List.copyOf(offers);
        }
    }

    /** One sample of every device; total memory by GPU UUID. */
    record Sampled(List<GpuSample> samples, Map<String, Long> memoryBytes) implements NodeFact {
        /** Copies. */
        public Sampled {
            samples = List.copyOf(samples);
            memoryBytes = Map.copyOf(memoryBytes);
        }
    }
}

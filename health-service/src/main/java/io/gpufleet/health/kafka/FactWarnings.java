package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.runtime.projection.Inbound;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns of what a daemon reports and this release does not use: one line for each node and thing. For one thread. */
final class FactWarnings {
    private static final Logger LOG = LoggerFactory.getLogger(FactWarnings.class);
    /** Beyond that the oldest may be warned of again. */
    private static final int MAX_REMEMBERED = 10_000;

    private final SequencedSet<String> warned = new LinkedHashSet<>();

    void check(Inbound.Event event) {
        switch (event.payload()) {
            case FaultObserved observed -> checkKind(event.key(), observed.getFault());
            case OpenFaults open -> open.getFaultsList().forEach(fault -> checkKind(event.key(), fault.getFault()));
            case NodeAnnounced announced -> checkDevices(event.key(), announced.getGpusCount());
            case Message _ -> {}
        }
    }

    private void checkKind(String node, Fault fault) {
        boolean unknown =
                fault.getKind() == FaultKind.UNRECOGNIZED || fault.getKind() == FaultKind.FAULT_KIND_UNSPECIFIED;
        if (unknown && isNew(node + " kind " + fault.getKindValue())) {
            LOG.atWarn()
                    .addKeyValue("node", node)
                    .addKeyValue("device", TextLimits.name(fault.getDeviceUuid()))
                    .addKeyValue("kind", fault.getKindValue())
                    .log(
                            "kind of fault is unknown, so that nothing is done about it: before a daemon of a later release this"
                                    + " service has to be upgraded");
        }
    }

    private void checkDevices(String node, int devices) {
        if (devices > HealthMachine.MAX_DEVICES && isNew(node + " devices")) {
            LOG.atWarn()
                    .addKeyValue("node", node)
                    .addKeyValue("devices", devices)
                    .addKeyValue("limit", HealthMachine.MAX_DEVICES)
                    .log(
                            "more devices are announced than a node may have, so that nothing is decided about those beyond the"
                                    + " limit: look for the cause in the log of the daemon");
        }
    }

    private boolean isNew(String what) {
        if (!warned.add(what)) {
            return false;
        }
        if (warned.size() > MAX_REMEMBERED) {
            warned.removeFirst();
        }
        return true;
    }
}

package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.model.HealthMachine;
import io.gpufleet.health.model.move.DeviceMoves;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultKind;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.runtime.projection.Inbound;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns of what a daemon reports and this release does not use: one line for each node and thing. For one thread. */
final class FactWarnings {
    private static final Logger LOG = LoggerFactory.getLogger(FactWarnings.class);
    /** Beyond that the oldest may be warned of again. */
    private static final int MAX_REMEMBERED = 10_000;

    private static final Duration FAR = Duration.ofDays(1);

    private final SequencedSet<String> warned = new LinkedHashSet<>();

    void check(Inbound.Event event) {
        switch (event.payload()) {
            case FaultObserved observed -> checkKind(event.key(), observed.getFault());
            case OpenFaults open -> open.getFaultsList().forEach(fault -> checkKind(event.key(), fault.getFault()));
            case NodeAnnounced announced -> {
                checkDevices(event.key(), announced.getGpusCount());
                checkKnownSince(event, TimestampMapping.fromWire(announced.getGpusKnownSince()));
            }
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

    /** A clock that is a little ahead is common, and does no harm once its time has come. */
    private void checkKnownSince(Inbound.Event event, Instant knownSince) {
        if (knownSince.isAfter(event.appendedAt().plus(FAR)) && isNew(event.key() + " known since")) {
            LOG.atWarn()
                    .addKeyValue("node", event.key())
                    .addKeyValue("gpus_known_since", knownSince)
                    .log(
                            "daemon knows its GPUs since a time in the far future, so that a GPU is not missed that it forgets with"
                                    + " its state directory: correct the clock of the node");
        }
    }

    /** One line for each UUID, whichever nodes announce it. */
    void twoClaims(DeviceMoves.TwoClaims claims) {
        if (isNew("claims " + claims.uuid())) {
            LOG.atWarn()
                    .addKeyValue("device", claims.uuid())
                    .addKeyValue("node", claims.node())
                    .addKeyValue("other", claims.other())
                    .log(
                            "GPU is announced by two nodes, so that its faults count on both until one of them announces no more"
                                    + " that it has it: look for two daemons of one machine, or a copied state directory");
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

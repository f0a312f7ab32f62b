package io.gpufleet.health.kafka;

import com.google.protobuf.Message;
import io.gpufleet.health.model.HealthSignal;
import io.gpufleet.health.model.HealthSignal.Heard;
import io.gpufleet.health.model.HealthSignal.Speaker;
import io.gpufleet.health.model.HealthSignal.Word;
import io.gpufleet.proto.health.v1.DeviceOffer;
import io.gpufleet.proto.health.v1.DeviceOfferChanged;
import io.gpufleet.proto.health.v1.Fault;
import io.gpufleet.proto.health.v1.FaultCleared;
import io.gpufleet.proto.health.v1.FaultObserved;
import io.gpufleet.proto.health.v1.OpenFaults;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.proto.inventory.v1.LocalHealth;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.signal.v1.KubernetesFact;
import io.gpufleet.proto.signal.v1.OperatorWord;
import io.gpufleet.wire.fold.Inbound;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Messages to signals of the model; empty for what the model has no use for. */
final class SignalMapper {
    private static final int TEXT = 512;
    private static final int NAME = 128;

    private SignalMapper() {}

    static Optional<HealthSignal> toModel(Inbound in, Instant now) {
        var heard = new Heard(in.eventId(), in.appendedAt(), in.age(now));
        return switch (in.payload()) {
            case FaultObserved observed -> Optional.of(observed(heard, speaker(in, observed.getBootId()), observed));
            case FaultCleared cleared ->
                Optional.of(new HealthSignal.FaultCleared(
                        heard,
                        speaker(in, cleared.getBootId()),
                        device(cleared.getFault()),
                        Words.code(cleared.getFault()),
                        Words.atMost(TEXT, cleared.getProof())));
            case OpenFaults open -> Optional.of(open(heard, speaker(in, open.getBootId()), open));
            case DeviceOfferChanged offer ->
                Optional.of(new HealthSignal.OfferChanged(
                        heard,
                        speaker(in, offer.getBootId()),
                        Words.atMost(NAME, offer.getOffer().getDeviceUuid()),
                        offer.getOffer().getLocallyHealthy()));
            case NodeAnnounced announced ->
                Optional.of(new HealthSignal.DevicesAnnounced(
                        heard,
                        speaker(in, announced.getBootId()),
                        announced.getGpusList().stream()
                                .map(SignalMapper::listed)
                                .toList()));
            case OperatorWord word -> word(heard, word);
            case KubernetesFact fact -> fact(heard, fact);
            case Message _ -> Optional.empty();
        };
    }

    private static Speaker speaker(Inbound in, String bootId) {
        return new Speaker(Words.atMost(NAME, bootId), in.envelope().id().epoch(), in.newMachine());
    }

    private static HealthSignal observed(Heard heard, Speaker speaker, FaultObserved observed) {
        Fault fault = observed.getFault();
        return new HealthSignal.FaultObserved(
                heard,
                speaker,
                device(fault),
                Words.atMost(NAME, fault.getModel()),
                Words.code(fault),
                Words.action(fault.getRecoveryAction()),
                Words.atMost(TEXT, fault.getMessage()),
                observed.getHoldersList().stream()
                        .map(holder -> new HealthSignal.Holder(
                                holder.getNamespace(), holder.getPod(), holder.getPodUid(), holder.getContainer()))
                        .toList());
    }

    private static HealthSignal open(Heard heard, Speaker speaker, OpenFaults open) {
        List<HealthSignal.OpenFault> faults = open.getFaultsList().stream()
                .map(listed -> new HealthSignal.OpenFault(
                        device(listed.getFault()),
                        Words.atMost(NAME, listed.getFault().getModel()),
                        Words.code(listed.getFault()),
                        Words.action(listed.getFault().getRecoveryAction()),
                        Math.max(1, listed.getObservations())))
                .toList();
        return new HealthSignal.FaultsOpen(
                heard,
                speaker,
                faults,
                open.getOffersList().stream()
                        .filter(offer -> !offer.getDeviceUuid().isEmpty())
                        .collect(Collectors.toMap(
                                offer -> Words.atMost(NAME, offer.getDeviceUuid()),
                                DeviceOffer::getLocallyHealthy,
                                (one, other) -> one && other)));
    }

    private static HealthSignal.ListedDevice listed(Gpu gpu) {
        return new HealthSignal.ListedDevice(
                Words.atMost(NAME, gpu.getUuid()),
                Words.atMost(NAME, gpu.getModel()),
                gpu.getLocalHealth() == LocalHealth.LOCAL_HEALTH_LOST);
    }

    private static Optional<HealthSignal> word(Heard heard, OperatorWord word) {
        Optional<Word> said = switch (word.getWord()) {
            case WORD_QUARANTINE -> Optional.of(Word.QUARANTINE);
            case WORD_RELEASE -> Optional.of(Word.RELEASE);
            case WORD_RETIRE -> Optional.of(Word.RETIRE);
            case WORD_RESET_BRAKE, WORD_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
        };
        return said.map(known -> new HealthSignal.OperatorSpoke(
                heard,
                known,
                Words.atMost(NAME, word.getDeviceUuid()),
                Words.atMost(NAME, word.getUser()),
                Words.atMost(TEXT, word.getReason())));
    }

    private static Optional<HealthSignal> fact(Heard heard, KubernetesFact fact) {
        return switch (fact.getFactCase()) {
            case NODE ->
                fact.getNode().getUid().isEmpty()
                        ? Optional.empty()
                        : Optional.of(new HealthSignal.NodeObjectSeen(
                                heard, fact.getNode().getUid()));
            case NODE_DELETED ->
                Optional.of(new HealthSignal.NodeObjectGone(
                        heard, fact.getNodeDeleted().getUid()));
            case MARK_REMOVED ->
                Optional.of(new HealthSignal.MarkRemoved(
                        heard,
                        Words.atMost(NAME, fact.getMarkRemoved().getMark()),
                        Words.atMost(NAME, fact.getMarkRemoved().getBy()),
                        fact.getMarkRemoved().getRevision()));
            case PATCH, POD, FACT_NOT_SET -> Optional.empty();
        };
    }

    private static String device(Fault fault) {
        return Words.atMost(NAME, fault.getDeviceUuid());
    }
}

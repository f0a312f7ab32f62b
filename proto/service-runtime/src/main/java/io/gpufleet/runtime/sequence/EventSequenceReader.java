package io.gpufleet.runtime.sequence;

import io.gpufleet.proto.bus.v1.EventsLost;
import io.gpufleet.wire.BootId;
import io.gpufleet.wire.DecodedRecord;
import io.gpufleet.wire.Envelope;
import io.gpufleet.wire.EventSource;

/** Reads from a decoded event what {@link KeySequences} need to know of it. */
public final class EventSequenceReader {
    private EventSequenceReader() {}

    public static DedupeResult admit(KeySequences sequences, DecodedRecord.Event event) {
        Envelope envelope = event.envelope();
        DedupeResult admission = sequences.deduplicate(envelope.source(), envelope.id(), bootId(event));
        if (admission.fresh() && event.payload() instanceof EventsLost lost) {
            long uncounted = sequences.recordLoss(
                    envelope.source(),
                    envelope.id().topic(),
                    lost.getEpoch(),
                    lost.getFromSequence(),
                    lost.getToSequence());
            return new DedupeResult(true, admission.newMachine(), admission.missed() + uncounted);
        }
        return admission;
    }

    /** An event that this release does not know is met all the same: a later one reveals no gap. */
    public static DedupeResult admit(KeySequences sequences, DecodedRecord.UnknownType unknown) {
        return sequences.deduplicate(unknown.source(), unknown.id(), unknown.bootId());
    }

    private static String bootId(DecodedRecord.Event event) {
        return event.envelope().source() instanceof EventSource.Service ? "" : BootId.of(event.payload());
    }
}

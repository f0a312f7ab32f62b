package io.gpufleet.testbed.testkit.contract;

import io.gpufleet.testbed.kafka.BrokerCloseListener;
import io.gpufleet.testbed.kafka.BrokerProcess;

/** Fails a test that leaves a record on its broker that the published contract does not describe. */
public final class PublishedRecordsCheck implements BrokerCloseListener {
    @Override
    public void closing(BrokerProcess broker) {
        PublishedRecords.close(broker.bootstrap());
    }
}

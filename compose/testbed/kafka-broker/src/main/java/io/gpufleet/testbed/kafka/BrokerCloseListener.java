package io.gpufleet.testbed.kafka;

/** Looks at a broker that is about to be closed, while it still answers. Found through {@code META-INF/services}. */
public interface BrokerCloseListener {
    /** The broker is killed once this returns or throws. */
    void closing(BrokerProcess broker);
}

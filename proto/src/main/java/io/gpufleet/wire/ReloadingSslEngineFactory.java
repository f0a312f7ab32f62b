package io.gpufleet.wire;

import java.io.IOException;
import java.security.KeyStore;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.security.auth.SslEngineFactory;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's own TLS, with key store and trust store read anew for the next connection after their files were replaced:
 * certificates rotate without a restart. A file that cannot be used keeps the one before.
 */
public final class ReloadingSslEngineFactory implements SslEngineFactory {
    private static final Logger LOG = LoggerFactory.getLogger(ReloadingSslEngineFactory.class);

    private Map<String, Object> settings = Map.of();
    private DefaultSslEngineFactory current = new DefaultSslEngineFactory();

    @Override
    public synchronized void configure(Map<String, ?> configs) {
        settings = new HashMap<>(configs);
        current.configure(configs);
    }

    @Override
    public synchronized SSLEngine createClientSslEngine(String host, int port, String endpointIdentification) {
        // Asks for the modification times of the files, a few microseconds for each connection.
        if (current.shouldBeRebuilt(settings)) {
            reload();
        }
        return current.createClientSslEngine(host, port, endpointIdentification);
    }

    private void reload() {
        var fresh = new DefaultSslEngineFactory();
        try {
            fresh.configure(settings);
            current = fresh;
            LOG.atInfo().log("TLS files were replaced and are in use");
        } catch (KafkaException unusable) {
            fresh.close();
            LOG.atWarn()
                    .addKeyValue("error", String.valueOf(unusable.getMessage()))
                    .log("replaced TLS files cannot be used, the ones before stay in use");
        }
    }

    @Override
    public SSLEngine createServerSslEngine(String host, int port) {
        throw new UnsupportedOperationException("only for clients");
    }

    @Override
    public synchronized boolean shouldBeRebuilt(Map<String, Object> next) {
        return false;
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return Set.of();
    }

    @Override
    public synchronized KeyStore keystore() {
        return current.keystore();
    }

    @Override
    public synchronized KeyStore truststore() {
        return current.truststore();
    }

    @Override
    public synchronized void close() throws IOException {
        current.close();
    }
}

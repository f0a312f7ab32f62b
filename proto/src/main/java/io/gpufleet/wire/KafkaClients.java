package io.gpufleet.wire;

import java.io.IOException;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/**
 * Kafka clients of a process, and the settings that they have in common: the bootstrap servers, and how to authenticate. Security
 * is read from a Kafka client properties file, as Kafka's own tools take it:
 *
 * <pre>
 * security.protocol=SASL_SSL
 * sasl.mechanism=SCRAM-SHA-512
 * sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="..." password="...";
 * ssl.truststore.type=PEM
 * ssl.truststore.location=/etc/kafka/ca.crt
 * </pre>
 *
 * <p>With {@code sasl.mechanism=OAUTHBEARER}, {@code sasl.oauthbearer.token.endpoint.url} is the URL of an identity provider or,
 * as {@code file:}, a token that somebody else renews, such as the kubelet.
 *
 * <p>The file is read once; the key store and trust store that it names are read again when they are replaced.
 */
public final class KafkaClients {
    /** Largest request of our producers: room for one record of the largest topic. */
    public static final int MAX_REQUEST_BYTES = 4 * 1024 * 1024;

    private static final List<String> PREFIXES = List.of("security.", "sasl.", "ssl.");
    private static final Set<String> OTHERS = Set.of(
            CommonClientConfigs.CLIENT_DNS_LOOKUP_CONFIG,
            CommonClientConfigs.CONNECTIONS_MAX_IDLE_MS_CONFIG,
            CommonClientConfigs.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG,
            CommonClientConfigs.SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS_CONFIG);
    private static final List<String> STORES = List.of("ssl.truststore.location", "ssl.keystore.location");

    private final String bootstrap;
    private final Map<String, String> security;
    private final ClockSetBacks setBacks = new ClockSetBacks();

    private KafkaClients(String bootstrap, Map<String, String> security) {
        this.bootstrap = bootstrap;
        this.security = security;
    }

    /** Clients of a broker that asks for no authentication. */
    public static KafkaClients plain(String bootstrap) {
        return of(bootstrap, "");
    }

    /**
     * Clients of a broker.
     *
     * @param bootstrap host:port, separated by commas
     * @param file a Kafka client properties file, or empty
     * @throws IllegalArgumentException with one line that names what is wrong in the file
     */
    public static KafkaClients of(String bootstrap, String file) {
        List<InetSocketAddress> _ = servers(bootstrap);
        if (file.isEmpty()) {
            return new KafkaClients(bootstrap, Map.of());
        }
        Map<String, String> security = read(Path.of(file));
        named(security).forEach((key, named) -> {
            if (!Files.isReadable(named)) {
                throw new IllegalArgumentException(
                        file + ": " + key + "='" + security.get(key) + "' is no file that can be read");
            }
        });
        TokenSources.allow(security);
        return new KafkaClients(bootstrap, security);
    }

    /** The files that the properties name, by their keys. */
    private static Map<String, Path> named(Map<String, String> security) {
        var files = new TreeMap<>(TokenSources.files(security));
        for (String key : STORES) {
            String store = security.get(key);
            if (store != null) {
                files.put(key, Path.of(store));
            }
        }
        return files;
    }

    /**
     * The servers of a list, whose names are not resolved.
     *
     * @param bootstrap host:port, separated by commas
     * @throws IllegalArgumentException with one line that names the server that is no host:port
     */
    public static List<InetSocketAddress> servers(String bootstrap) {
        List<InetSocketAddress> servers = new ArrayList<>();
        for (String server : bootstrap.split(",", -1)) {
            int colon = server.lastIndexOf(':');
            String port = colon < 0 ? "" : server.substring(colon + 1).strip();
            if (colon < 1 || !port.matches("\\d{1,5}") || Integer.parseInt(port) > 65535) {
                throw new IllegalArgumentException("'" + server.strip() + "' is no Kafka server: write host:port, for"
                        + " example kafka.kafka.svc:9092, and several separated by commas");
            }
            String host = server.substring(0, colon).strip();
            servers.add(InetSocketAddress.createUnresolved(host, Integer.parseInt(port)));
        }
        return List.copyOf(servers);
    }

    private static Map<String, String> read(Path file) {
        var found = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            found.load(reader);
        } catch (IOException unreadable) {
            throw new IllegalArgumentException(file + " cannot be read: " + unreadable.getMessage(), unreadable);
        }
        List<String> foreign = new ArrayList<>();
        var security = new TreeMap<String, String>();
        for (String key : new TreeSet<>(found.stringPropertyNames())) {
            if (!allowed(key)) {
                foreign.add(key);
            }
            security.put(key, found.getProperty(key));
        }
        if (!foreign.isEmpty()) {
            throw new IllegalArgumentException(file + ": '" + String.join("', '", foreign)
                    + "' may not be set here: only Kafka's security.*, sasl.*, ssl.* and "
                    + String.join(", ", new TreeSet<>(OTHERS)));
        }
        return security;
    }

    private static boolean allowed(String key) {
        return OTHERS.contains(key)
                || PREFIXES.stream().anyMatch(key::startsWith)
                        && AdminClientConfig.configNames().contains(key);
    }

    /** The bootstrap servers, as given. */
    public String bootstrap() {
        return bootstrap;
    }

    /** Settings to begin a client's own with. */
    public Properties properties(String clientId) {
        var properties = new Properties();
        properties.putAll(security);
        properties.putIfAbsent(SslConfigs.SSL_ENGINE_FACTORY_CLASS_CONFIG, ReloadingSslEngineFactory.class);
        properties.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        properties.put(CommonClientConfigs.CLIENT_ID_CONFIG, clientId);
        properties.put(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, "500");
        // What is of use to operators is on /metrics: no management beans and nothing pushed to the broker, which would
        // take memory and time at the start in each of 10,000 daemons.
        properties.put(CommonClientConfigs.METRIC_REPORTER_CLASSES_CONFIG, "");
        properties.put(CommonClientConfigs.ENABLE_METRICS_PUSH_CONFIG, "false");
        return properties;
    }

    /**
     * A consumer; the caller closes it. When the clock is set back it is woken up, and must be replaced: with time-outs from
     * before, a poll could take as long as the clock was set back.
     */
    public <K, V> KafkaConsumer<K, V> consumer(Properties settings, Deserializer<K> keys, Deserializer<V> values) {
        return setBacks.watch(new KafkaConsumer<>(settings, keys, values), KafkaConsumer::wakeup);
    }

    /** A producer; the caller closes it. When the clock is set back it is closed, and must be replaced. */
    public <K, V> KafkaProducer<K, V> producer(Properties settings, Serializer<K> keys, Serializer<V> values) {
        return setBacks.watch(new KafkaProducer<>(settings, keys, values), producer -> producer.close(Duration.ZERO));
    }

    /** An admin client; the caller closes it. When the clock is set back it is closed, and must be replaced. */
    public Admin admin(Properties settings) {
        return setBacks.watch(Admin.create(settings), admin -> admin.close(Duration.ZERO));
    }

    /** How often the clock was set back: a client that was created when it was less must be replaced. */
    public long clockSetBacks() {
        return setBacks.count();
    }
}

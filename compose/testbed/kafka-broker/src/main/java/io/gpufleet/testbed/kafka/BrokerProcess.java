package io.gpufleet.testbed.kafka;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;

/**
 * A Kafka broker as a process of its own, listening on loopback, with its log in a directory that outlives it. Not safe
 * for use by several threads at once.
 */
public final class BrokerProcess implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final int ATTEMPTS = 3;

    private final ServerProperties properties;
    private final BrokerJvm jvm;
    private final List<String> flags;
    private Process process;

    private BrokerProcess(ServerProperties properties, BrokerJvm jvm, List<String> flags) throws IOException {
        this.properties = properties;
        this.jvm = jvm;
        this.flags = flags;
        this.process = launch();
    }

    /** Starts on free ports and returns when the broker answers; it ends with this JVM at the latest. */
    public static BrokerProcess start(Path dir) {
        return startOnFreePort(dir, _ -> new AdditionalListener.Open());
    }

    /** Starts with a second port, {@link #proxiedBootstrap()}, that clients reach through {@link #proxy()}. */
    public static BrokerProcess startWithProxy(Path dir) {
        return startOnFreePort(dir, _ -> {
            int port = FreePort.next();
            return new AdditionalListener.BehindProxy(port, TcpProxy.open(port));
        });
    }

    /** Starts with a second port, {@link #remoteBootstrap()}, on another address of this machine. */
    public static BrokerProcess startOn(Path dir, String host) {
        return startOnFreePort(dir, _ -> new AdditionalListener.OnAddress(host, FreePort.next()));
    }

    /**
     * Starts with a second port, {@link #securedBootstrap()}, that asks for TLS and SCRAM-SHA-512 and allows what ACLs
     * allow. Whoever comes by the plain port is the administrator. {@code broker.out} has each decision of the authorizer.
     */
    public static BrokerProcess startSecured(Path dir) {
        return startOnFreePort(dir, absolute -> AdditionalListener.TlsAndScram.create(absolute, FreePort.next()));
    }

    /**
     * Starts like {@link #startSecured}, with the secured port on another address of this machine; its certificate,
     * {@link #certificate()}, is for that address and a name of it.
     */
    public static BrokerProcess startSecuredOn(Path dir, String host, int port, String name) {
        return startOnFreePort(
                dir,
                absolute -> AdditionalListener.TlsAndScram.create(absolute, host, port, "IP:" + host + ",DNS:" + name));
    }

    /** Starts with a port for clients with tokens and one for clients with certificates, see {@link #identities()}. */
    public static BrokerProcess startWithIdentities(Path dir) {
        return startOnFreePort(
                dir, absolute -> new AdditionalListener.TokensAndCertificates(BrokerIdentities.create(absolute)));
    }

    /** Makes the listener beside the plain one. */
    private interface ListenerFactory {
        AdditionalListener create(Path directory) throws IOException;
    }

    private static BrokerProcess startOnFreePort(Path dir, ListenerFactory listener) {
        for (int attempt = 1; ; attempt++) {
            try {
                Files.createDirectories(dir);
                new TmpfsLogDirectory(dir.resolve(ServerProperties.LOG)).create();
                BrokerProcess broker = start(dir, FreePort.next(), listener, List.of());
                Runtime.getRuntime().addShutdownHook(new Thread(broker::end, "broker-end"));
                return broker;
            } catch (IllegalStateException portWasTakenMeanwhile) {
                if (attempt == ATTEMPTS) {
                    throw portWasTakenMeanwhile;
                }
            } catch (IOException unusable) {
                throw unusable(dir, unusable);
            }
        }
    }

    /** Starts on the given port and returns when the broker answers; it outlives this JVM. */
    public static BrokerProcess start(Path dir, int port) {
        return start(dir, port, _ -> new AdditionalListener.Open(), List.of());
    }

    /**
     * Starts a further broker of the cluster of the one in {@code first}, with a log of its own below {@code dir} and a
     * free port; it ends with this JVM at the latest. It keeps no partition until one is moved to it.
     *
     * @param node its id, 2 or more
     */
    public static BrokerProcess join(Path dir, int node, Path first) {
        try {
            Path absolute = Files.createDirectories(dir.toAbsolutePath());
            var properties = new ServerProperties(
                    absolute, node, FreePort.next(), controllerPort(first), new AdditionalListener.Open());
            var jvm = new BrokerJvm(properties, KafkaJars.classPath());
            properties.write();
            jvm.formatMemberOf(value(first.resolve(ServerProperties.LOG).resolve("meta.properties"), "cluster.id"));
            var broker = new BrokerProcess(properties, jvm, List.of());
            Runtime.getRuntime().addShutdownHook(new Thread(broker::end, "broker-end"));
            broker.awaitResponding();
            return broker;
        } catch (IOException unusable) {
            throw unusable(dir, unusable);
        }
    }

    private static int controllerPort(Path first) throws IOException {
        String voter = value(first.resolve("server.properties"), "controller.quorum.voters");
        return Integer.parseInt(voter.substring(voter.lastIndexOf(':') + 1));
    }

    private static String value(Path file, String key) throws IOException {
        var properties = new Properties();
        try (var reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        }
        return Optional.ofNullable(properties.getProperty(key))
                .orElseThrow(() -> new IllegalStateException(file + " has no " + key));
    }

    /** Starts a broker, has a client use it, and stops it; its JVM writes an AOT cache. Its log directory. */
    static Path train(Path dir, Path cache) throws IOException {
        BrokerProcess broker =
                start(dir, FreePort.next(), _ -> new AdditionalListener.Open(), List.of("-XX:AOTCacheOutput=" + cache));
        try {
            var jvm = new BrokerJvm(broker.properties, KafkaJars.classPathWithThisCode());
            Process client = jvm.start(List.of("-Xmx64m"), List.of(TrainingClient.class.getName(), broker.bootstrap()));
            if (await(client) != 0) {
                throw new IllegalStateException("the training client failed: see " + broker.output());
            }
        } finally {
            broker.process.destroy();
            await(broker.process);
        }
        return broker.properties.logDir();
    }

    private static BrokerProcess start(Path dir, int port, ListenerFactory listener, List<String> flags) {
        try {
            Files.createDirectories(dir);
            Path absolute = dir.toAbsolutePath();
            var properties = new ServerProperties(
                    absolute, ServerProperties.FIRST, port, FreePort.next(), listener.create(absolute));
            var jvm = new BrokerJvm(properties, KafkaJars.classPath());
            properties.write();
            if (!Files.exists(properties.logDir().resolve("meta.properties"))) {
                jvm.format();
            }
            var broker = new BrokerProcess(properties, jvm, flags);
            broker.awaitResponding();
            return broker;
        } catch (IOException unusable) {
            throw unusable(dir, unusable);
        }
    }

    private static UncheckedIOException unusable(Path dir, IOException cause) {
        return new UncheckedIOException("the directory of the broker, " + dir + ", cannot be used", cause);
    }

    /** Value for {@code bootstrap.servers}. */
    public String bootstrap() {
        return "127.0.0.1:" + properties.port();
    }

    /** Value for {@code bootstrap.servers} of clients that authenticate; only for {@link #startSecured}. */
    public String securedBootstrap() {
        return secured().host() + ":" + secured().port();
    }

    private AdditionalListener.TlsAndScram secured() {
        if (properties.listener() instanceof AdditionalListener.TlsAndScram secured) {
            return secured;
        }
        throw new IllegalStateException("this broker has no secured listener");
    }

    /** PEM of the certificate by which clients trust the secured listener. */
    public String certificate() {
        try {
            return BrokerIdentities.certificate(
                    BrokerIdentities.open(properties.dir().resolve("trust.p12")));
        } catch (IOException | GeneralSecurityException unusable) {
            throw new IllegalStateException("the trust store of the broker cannot be read", unusable);
        }
    }

    /** The ports for clients with an identity; only for {@link #startWithIdentities}. */
    public BrokerIdentities identities() {
        if (properties.listener() instanceof AdditionalListener.TokensAndCertificates(BrokerIdentities identities)) {
            return identities;
        }
        throw new IllegalStateException("this broker takes no tokens and certificates");
    }

    /** Value for {@code bootstrap.servers} of clients behind the proxy; only for {@link #startWithProxy}. */
    public String proxiedBootstrap() {
        return "127.0.0.1:" + proxy().port();
    }

    /** Value for {@code bootstrap.servers} of clients elsewhere; only for {@link #startOn}. */
    public String remoteBootstrap() {
        if (properties.listener() instanceof AdditionalListener.OnAddress(String host, int port)) {
            return host + ":" + port;
        }
        throw new IllegalStateException("this broker listens on loopback only");
    }

    /** The proxy between the broker and the clients of {@link #proxiedBootstrap()}. */
    public TcpProxy proxy() {
        if (properties.listener() instanceof AdditionalListener.BehindProxy(int _, TcpProxy proxy)) {
            return proxy;
        }
        throw new IllegalStateException("this broker has no proxy");
    }

    /** Kafka client properties of a SCRAM user of the secured listener. */
    public String clientProperties(String user, String password) {
        return """
            security.protocol=SASL_SSL
            sasl.mechanism=SCRAM-SHA-512
            sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="%s" password="%s";
            ssl.truststore.type=PKCS12
            ssl.truststore.location=%s
            ssl.truststore.password=%s
            """.formatted(user, password, properties.dir().resolve("trust.p12"), AdditionalListener.STORE_PASSWORD);
    }

    /**
     * Makes a new key of the broker and a trust store with its certificate; the broker takes it at its next start. Only for
     * {@link #startSecured}.
     */
    public void replaceKey() {
        try {
            secured().replaceKey();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Output of the broker: its warnings, and with {@link #startSecured} each decision of the authorizer. */
    public Path output() {
        return properties.output();
    }

    /** Process id of the broker. */
    public long pid() {
        return process.pid();
    }

    /** True while the process runs. */
    public boolean alive() {
        return process.isAlive();
    }

    /** SIGKILL; returns when it is dead. */
    public void kill() {
        process.destroyForcibly();
        await(process);
    }

    /** SIGTERM, after 10 s SIGKILL; returns when it is dead. */
    public void stop() {
        process.destroy();
        if (!exitedWithin(process, Duration.ofSeconds(10))) {
            kill();
        }
    }

    /** Restarts on the same port and directory, after {@link #kill()} or {@link #stop()} or while the broker runs. */
    public void restart() {
        if (process.isAlive()) {
            stop();
        }
        try {
            process = launch();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        awaitResponding();
    }

    /**
     * SIGKILL: nobody reads this log again, and an orderly end costs as much CPU time as the start. Before that the
     * listeners of this class path look at a broker that runs.
     */
    @Override
    public void close() {
        try {
            if (alive()) {
                ServiceLoader.load(BrokerCloseListener.class).forEach(listener -> listener.closing(this));
            }
        } finally {
            end();
            if (properties.listener() instanceof AdditionalListener.BehindProxy(int _, TcpProxy proxy)) {
                proxy.close();
            }
        }
    }

    private void end() {
        kill();
        try {
            new TmpfsLogDirectory(properties.logDir()).delete();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private Process launch() throws IOException {
        var all = new ArrayList<>(List.of("-Xmx384m"));
        all.addAll(flags);
        all.addAll(properties.listener().flags());
        return jvm.start(all, List.of("kafka.Kafka", properties.dir() + "/server.properties"));
    }

    private void awaitResponding() {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (!isResponding()) {
            if (exitedWithin(process, Duration.ofMillis(50))) {
                throw new IllegalStateException("the broker on port " + properties.port()
                        + " exited while starting (is the port in use?): see " + properties.output());
            }
            if (System.nanoTime() > deadline) {
                kill();
                throw new IllegalStateException("the broker on port " + properties.port() + " did not answer within "
                        + START_TIMEOUT.toSeconds() + " s: see " + properties.output());
            }
        }
    }

    /** Sends ApiVersions (key 18, version 0), the first request of every client. */
    private boolean isResponding() {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), properties.port()), 500);
            socket.setSoTimeout(2000);
            var out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(10);
            out.writeShort(18);
            out.writeShort(0);
            out.writeInt(1);
            out.writeShort(-1);
            out.flush();
            var in = new DataInputStream(socket.getInputStream());
            in.readInt();
            return in.readInt() == 1 && in.readShort() == 0;
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Waits for its end; the exit status. */
    static int await(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the broker", interrupted);
        }
    }

    private static boolean exitedWithin(Process process, Duration within) {
        try {
            return process.waitFor(within.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the broker", interrupted);
        }
    }
}

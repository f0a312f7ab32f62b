package io.gpufleet.kit.lifecycle;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The frame of a long-running program: {@code --help}, {@code --version}, one line on standard error where the
 * configuration is wrong, and SIGTERM closes everything.
 */
public final class Program {
    private static final Logger LOG = LoggerFactory.getLogger(Program.class);

    private static final int FAILED = 3;
    private static final Duration EXIT_DEADLINE = Duration.ofSeconds(15);

    private Program() {}

    /** Starts the parts of a program and registers each with {@link Shutdown}. */
    @FunctionalInterface
    public interface Startup {
        /** Returns once everything runs. */
        void start(Environment environment, Shutdown shutdown) throws Exception;
    }

    /** Runs a program until SIGTERM. Exit code 2: the configuration is wrong; 1: any other failure at start. */
    public static void run(
            String name, String[] arguments, Map<String, String> environment, List<Setting> settings, Startup body) {
        if (List.of(arguments).contains("--help")) {
            System.out.print(Environment.help(name, settings));
            return;
        }
        BuildInfo build = BuildInfo.current();
        if (List.of(arguments).contains("--version")) {
            System.out.println(name + " " + build);
            return;
        }
        var shutdown = new Shutdown();
        try {
            if (arguments.length > 0) {
                throw new ConfigurationException("'" + arguments[0]
                        + "' is not an argument: it takes --help or --version; settings are environment variables");
            }
            body.start(Environment.read(environment, settings), shutdown);
        } catch (ConfigurationException wrong) {
            System.err.println(name + ": " + wrong.getMessage());
            shutdown.close();
            Runtime.getRuntime().halt(2);
        } catch (Exception failed) {
            LOG.atError()
                    .setCause(failed)
                    .addKeyValue("program", name)
                    .addKeyValue("version", build.version())
                    .addKeyValue("revision", build.revision())
                    .log("start failed");
            shutdown.close();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(shutdown::close, "shutdown"));
        LOG.atInfo()
                .addKeyValue("program", name)
                .addKeyValue("version", build.version())
                .addKeyValue("revision", build.revision())
                .log("started");
    }

    /**
     * Ends a program that runs and cannot go on: closes what was started, prints one line on standard error, and exits
     * with code 3. Returns at once; the process ends within 15 s.
     */
    public static void fail(String name, String line) {
        Thread.ofPlatform().name("failed").start(() -> {
            System.err.println(name + ": " + line);
            Thread exit = Thread.ofPlatform()
                    .name("exit")
                    .start(() -> Runtime.getRuntime().exit(FAILED));
            try {
                exit.join(EXIT_DEADLINE);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            Runtime.getRuntime().halt(FAILED);
        });
    }
}

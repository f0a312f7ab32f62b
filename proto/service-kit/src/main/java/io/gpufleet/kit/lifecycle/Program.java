package io.gpufleet.kit.lifecycle;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The frame of a long-running program: {@code --help}, {@code --version}, one line on standard error where the
 * configuration is wrong, and SIGTERM closes everything, also while the program starts. A process has one of them, and ends
 * within 10 s of SIGTERM.
 */
public final class Program {
    private static final Logger LOG = LoggerFactory.getLogger(Program.class);

    private static final int START_FAILED = 1;
    private static final int WRONG_CONFIGURATION = 2;
    private static final int FAILED = 3;
    /** Exit status of a process that SIGTERM has ended. */
    private static final int TERMINATED = 143;
    /** From SIGTERM to the end, whatever is not closed by then. */
    private static final Duration EXIT_TIME = Duration.ofSeconds(10);
    /** A start that takes no notice of its end any longer is closed beside it. */
    private static final Duration START_END_DEADLINE = Duration.ofSeconds(3);

    private static final Shutdown SHUTDOWN = new Shutdown();
    private static final ExitDeadline DEADLINE =
            new ExitDeadline(EXIT_TIME, SHUTDOWN::closing, Runtime.getRuntime()::halt);

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
        if (!start(name, build, () -> {
            if (arguments.length > 0) {
                throw new ConfigurationException("'" + arguments[0]
                        + "' is not an argument: it takes --help or --version; settings are environment variables");
            }
            body.start(Environment.read(environment, settings), SHUTDOWN);
        })) {
            return;
        }
        LOG.atInfo()
                .addKeyValue("program", name)
                .addKeyValue("version", build.version())
                .addKeyValue("revision", build.revision())
                .log("started");
    }

    /** The start, without what it is given. */
    @FunctionalInterface
    private interface Body {
        void start() throws Exception;
    }

    /** False where SIGTERM ended it: the hook closes what was opened. */
    private static boolean start(String name, BuildInfo build, Body body) {
        var over = new CountDownLatch(1);
        Thread starting = Thread.currentThread();
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(starting, over), "shutdown"));
        } catch (IllegalStateException endsAlready) {
            return false;
        }
        try {
            body.start();
        } catch (Exception failed) {
            if (SHUTDOWN.isStartCancelled()) {
                return false;
            }
            report(name, build, failed);
            int status = failed instanceof ConfigurationException ? WRONG_CONFIGURATION : START_FAILED;
            DEADLINE.begin(status);
            SHUTDOWN.close();
            Runtime.getRuntime().halt(status);
        } finally {
            over.countDown();
        }
        return !SHUTDOWN.isStartCancelled();
    }

    private static void report(String name, BuildInfo build, Exception failed) {
        if (failed instanceof ConfigurationException) {
            System.err.println(name + ": " + failed.getMessage());
            return;
        }
        LOG.atError()
                .setCause(failed)
                .addKeyValue("program", name)
                .addKeyValue("version", build.version())
                .addKeyValue("revision", build.revision())
                .log("start failed");
    }

    /** The start ends first, so that nothing is opened behind the parts that are closed. */
    private static void end(Thread starting, CountDownLatch over) {
        DEADLINE.begin(TERMINATED);
        SHUTDOWN.cancelStart();
        try {
            if (over.getCount() > 0) {
                starting.interrupt();
                var _ = over.await(START_END_DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        SHUTDOWN.close();
    }

    /**
     * Ends a program that runs and cannot go on: closes what was started, prints one line on standard error, and exits
     * with code 3. Returns at once; the process ends within 10 s.
     */
    public static void fail(String name, String line) {
        Thread.ofPlatform().name("failed").start(() -> {
            System.err.println(name + ": " + line);
            DEADLINE.begin(FAILED);
            Runtime.getRuntime().exit(FAILED);
        });
    }
}

package io.gpufleet.kit.lifecycle;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.config.Environment;
import io.gpufleet.kit.config.Setting;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The frame of a long-running program: {@code --help}, one clear line on a bad start, SIGTERM closes all. */
public final class Program {
    private static final Logger LOG = LoggerFactory.getLogger(Program.class);

    private Program() {}

    /** Starts the parts of a program and registers each for the end. */
    @FunctionalInterface
    public interface Body {
        /** Returns once everything runs. */
        void start(Environment environment, Shutdown shutdown) throws Exception;
    }

    /** Runs a program until SIGTERM. Exit 2: the operator's configuration; exit 1: anything else. */
    public static void run(
            String name, String[] arguments, Map<String, String> environment, List<Setting> settings, Body body) {
        if (List.of(arguments).contains("--help")) {
            System.out.print(Environment.help(name, settings));
            return;
        }
        var shutdown = new Shutdown();
        try {
            body.start(Environment.read(environment, settings), shutdown);
        } catch (ConfigurationException wrong) {
            System.err.println(name + ": " + wrong.getMessage());
            shutdown.close();
            Runtime.getRuntime().halt(2);
        } catch (Exception failed) {
            LOG.atError().setCause(failed).addKeyValue("program", name).log("could not start");
            shutdown.close();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(shutdown::close, "shutdown"));
        LOG.atInfo().addKeyValue("program", name).log("started");
    }
}

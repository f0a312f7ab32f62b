package io.gpufleet.cli.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.install.KubectlShell;
import io.gpufleet.cli.install.PageCommands;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Commands of k8s/docs/migration.md, of which the test says how they begin.
 *
 * @param node name of the node that moves
 */
record MigrationPage(String node) {
    private static final String PAGE = "k8s/docs/migration.md";

    /** Runs a command of one line. */
    void run(String begin) throws IOException, InterruptedException {
        shell(find(Pattern.quote(begin) + "[^`\n]*"));
    }

    /** Runs a command that has its block for itself. */
    void runBlock(String begin) throws IOException, InterruptedException {
        shell(find(Pattern.quote(begin) + "[^`]*"));
    }

    /** Fails where the page does not have a command that the test runs otherwise. */
    void assertHas(String command) {
        find(Pattern.quote(command));
    }

    private static String find(String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(PageCommands.text(PAGE));
        assertThat(found.find()).as(PAGE + " has " + pattern).isTrue();
        return found.group();
    }

    private void shell(String command) throws IOException, InterruptedException {
        KubectlShell.run(Repository.module(""), command.replace("NODE", node));
    }
}

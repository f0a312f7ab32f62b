package io.gpufleet.nodedaemon.sides;

import io.gpufleet.nodedaemon.model.MpsOrder;
import io.gpufleet.nodedaemon.model.SideStates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * One resource's folder: {@code wanted} goes out, {@code ready} comes back. The file {@code ready} is written anew each time the
 * control daemon itself has answered; its two lines are the order that is carried out and the process id.
 */
final class MpsFolder {
    /** Name of the file with the order. */
    static final String WANTED = "wanted";

    /** The control daemon is asked every 2 s; so long without an answer is no answer. */
    private static final Duration SILENCE = Duration.ofSeconds(15);

    private final Path folder;
    private final Path processes;
    private final Clock clock;

    MpsFolder(Path folder, Path processes, Clock clock) {
        this.folder = folder;
        this.processes = processes;
        this.clock = clock;
    }

    /** Writes the order where it is another one, and says how it stands with it: {@code ready}, or why not. */
    String carriedOut(MpsOrder order) {
        String text = text(order);
        String number = number(text);
        try {
            write("order=" + number + "\n" + text);
        } catch (IOException failed) {
            return folder + "/" + WANTED + " can not be written ("
                    + failed.getClass().getSimpleName() + "); mount the directory of MPS writable";
        }
        try {
            List<String> lines = Files.readAllLines(folder.resolve("ready"));
            Duration age = Duration.between(
                    Files.getLastModifiedTime(folder.resolve("ready")).toInstant(), clock.instant());
            return said(lines, number, age);
        } catch (NoSuchFileException notYet) {
            return "the control daemon has not answered; is the MPS DaemonSet on this node?";
        } catch (IOException unreadable) {
            return folder + "/ready can not be read (" + unreadable.getClass().getSimpleName() + ")";
        }
    }

    private String said(List<String> lines, String number, Duration age) {
        if (lines.size() < 2 || !lines.getFirst().equals(number)) {
            return "the control daemon does not work by the newest order yet";
        }
        if (age.compareTo(SILENCE) > 0) {
            return "the control daemon does not answer any more";
        }
        boolean runs = lines.get(1).matches("\\d{1,10}") && Files.isDirectory(processes.resolve(lines.get(1)));
        return runs && Files.exists(folder.resolve("pipe/control")) ? SideStates.READY : "the control daemon is gone";
    }

    private void write(String text) throws IOException {
        Path wanted = folder.resolve(WANTED);
        if (Files.exists(wanted) && Files.readString(wanted).equals(text)) {
            return;
        }
        Files.createDirectories(folder);
        Path next = Files.writeString(folder.resolve("wanted.next"), text);
        Files.move(next, wanted, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static String text(MpsOrder order) {
        String devices = order.devices().stream().map(MpsOrder.Shared::uuid).collect(Collectors.joining(","));
        String limits = IntStream.range(0, order.devices().size())
                .filter(i -> order.devices().get(i).limitMebibytes() > 0)
                .mapToObj(i -> i + ":" + order.devices().get(i).limitMebibytes() + "M")
                .collect(Collectors.joining(" "));
        return "devices=" + devices + "\nthreads=" + order.threadPercentage() + "\nlimits=" + limits + "\n";
    }

    private static String number(String text) {
        return Integer.toHexString(text.hashCode());
    }

    /**
     * The resource is shared by MPS no longer; its control daemon ends when its last client has ended. A file of that name
     * that is none of ours stays.
     */
    boolean giveUp() throws IOException {
        Path wanted = folder.resolve(WANTED);
        boolean ours = Files.readString(wanted).startsWith("order=");
        return ours && Files.deleteIfExists(wanted);
    }
}

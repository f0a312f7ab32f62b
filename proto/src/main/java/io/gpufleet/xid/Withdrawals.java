package io.gpufleet.xid;

import java.io.IOException;
import java.io.Reader;
import java.util.HashSet;
import java.util.Set;

/**
 * Faults for which a daemon withdraws the device at once, read from the resource {@code withdrawals.tsv}: those that the
 * policy pack {@code nvidia} of the health-service withdraws without any wait. The file is generated from the pack.
 *
 * @param xids numbers of XIDs
 * @param actions immediate actions of XIDs; they decide about errors of XIDs 144 to 150 too
 * @param kinds other faults, as policy files name them
 * @param recoveryActions recovery actions of the driver, as policy files name them
 */
public record Withdrawals(
        Set<Integer> xids, Set<XidImmediateAction> actions, Set<String> kinds, Set<String> recoveryActions) {
    private static final int COLUMNS = 2;
    private static final Withdrawals STANDARD = TsvReader.readResource("withdrawals.tsv", Withdrawals::read);

    /** Copies the sets. */
    public Withdrawals {
        xids = Set.copyOf(xids);
        actions = Set.copyOf(actions);
        kinds = Set.copyOf(kinds);
        recoveryActions = Set.copyOf(recoveryActions);
    }

    /** Returns the table of this release. */
    public static Withdrawals standard() {
        return STANDARD;
    }

    static Withdrawals read(Reader text) throws IOException {
        var xids = new HashSet<Integer>();
        var actions = new HashSet<XidImmediateAction>();
        var kinds = new HashSet<String>();
        var recoveryActions = new HashSet<String>();
        TsvReader.read(text, COLUMNS, columns -> {
            switch (columns[0]) {
                case "xid" -> xids.add(Integer.parseInt(columns[1]));
                case "immediate-action" -> actions.add(XidImmediateAction.valueOf(columns[1]));
                case "kind" -> kinds.add(columns[1]);
                case "recovery-action" -> recoveryActions.add(columns[1]);
                default -> throw new IllegalArgumentException("unknown column " + columns[0]);
            }
        });
        return new Withdrawals(xids, actions, kinds, recoveryActions);
    }
}

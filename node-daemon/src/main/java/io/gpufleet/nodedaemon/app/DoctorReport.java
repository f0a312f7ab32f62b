package io.gpufleet.nodedaemon.app;

import io.gpufleet.nodedaemon.model.Finding;
import io.gpufleet.nodedaemon.model.Finding.Grade;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What {@code doctor} prints.
 *
 * @param findings in the order in which a person would look
 * @param settings those that are set, by name
 */
public record DoctorReport(List<Finding> findings, SortedMap<String, String> settings) {
    /** Copies both. */
    public DoctorReport {
        findings = List.copyOf(findings);
        settings = new TreeMap<>(settings);
    }

    /** Whether nothing fails. */
    public boolean well() {
        return findings.stream().noneMatch(finding -> finding.grade() == Grade.FAIL);
    }

    /** A row a finding, the remedy of each that is not well, and a line that sums up. */
    public String table() {
        var table = new TextTable(List.of("", "WHAT", "FOUND"));
        findings.forEach(finding -> table.row(List.of(finding.grade().name(), finding.subject(), finding.found())));
        String remedies = findings.stream()
                .filter(finding -> !finding.remedy().isEmpty())
                .map(finding -> finding.grade() + " " + finding.subject() + ": " + finding.remedy() + "\n")
                .collect(Collectors.joining());
        String set = settings.entrySet().stream()
                .map(setting -> "  " + setting.getKey() + "=" + setting.getValue() + "\n")
                .collect(Collectors.joining());
        return table.text()
                + (remedies.isEmpty() ? "" : "\nwhat to do\n" + remedies.indent(2))
                + (set.isEmpty() ? "" : "\nsettings that are set, all others have their defaults\n" + set)
                + "\n" + count(Grade.OK) + " ok, " + count(Grade.WARN) + " to look at, " + count(Grade.FAIL)
                + " fail\n";
    }

    private long count(Grade grade) {
        return findings.stream().filter(finding -> finding.grade() == grade).count();
    }

    /** The same as one JSON object. */
    public String json() {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("well", well());
        report.put("findings", findings.stream().map(DoctorReport::fields).toList());
        report.put("settings", settings);
        return JsonText.of(report);
    }

    private static Map<String, Object> fields(Finding finding) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("what", finding.subject());
        fields.put("grade", finding.grade());
        fields.put("found", finding.found());
        fields.put("remedy", finding.remedy());
        return fields;
    }
}

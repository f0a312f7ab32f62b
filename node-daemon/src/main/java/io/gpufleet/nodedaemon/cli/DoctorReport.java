package io.gpufleet.nodedaemon.cli;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import io.gpufleet.nodedaemon.app.DoctorFinding.Status;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The report of {@code doctor}.
 *
 * @param findings in the order in which an operator would check
 * @param settings environment variables that are set, by name
 */
public record DoctorReport(List<DoctorFinding> findings, SortedMap<String, String> settings) {
    /** Copies both collections. */
    public DoctorReport {
        findings = List.copyOf(findings);
        settings = new TreeMap<>(settings);
    }

    /** Whether nothing fails. */
    public boolean healthy() {
        return findings.stream().noneMatch(finding -> finding.status() == Status.FAIL);
    }

    /** One row per finding, the remedies of those that are not OK, and a summary line. */
    public String table() {
        var table = new TextTable(List.of("", "CHECK", "FOUND"));
        findings.forEach(finding -> table.row(List.of(finding.status().name(), finding.subject(), finding.found())));
        String remedies = findings.stream()
                .filter(finding -> !finding.remedy().isEmpty())
                .map(finding -> finding.status() + " " + finding.subject() + ": " + finding.remedy() + "\n")
                .collect(Collectors.joining());
        String set = settings.entrySet().stream()
                .map(setting -> "  " + setting.getKey() + "=" + setting.getValue() + "\n")
                .collect(Collectors.joining());
        return table.text()
                + (remedies.isEmpty() ? "" : "\nrecommended actions\n" + remedies.indent(2))
                + (set.isEmpty() ? "" : "\nsettings that are set, all others have their defaults\n" + set)
                + "\n" + count(Status.OK) + " ok, " + count(Status.WARN) + " warnings, " + count(Status.FAIL)
                + " failed\n";
    }

    private long count(Status status) {
        return findings.stream().filter(finding -> finding.status() == status).count();
    }

    /** The same as one JSON object. */
    public String json() {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("healthy", healthy());
        report.put("findings", findings.stream().map(DoctorReport::fields).toList());
        report.put("settings", settings);
        return ReportJson.encode(report);
    }

    private static Map<String, Object> fields(DoctorFinding finding) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("check", finding.subject());
        fields.put("status", finding.status());
        fields.put("found", finding.found());
        fields.put("remedy", finding.remedy());
        return fields;
    }
}

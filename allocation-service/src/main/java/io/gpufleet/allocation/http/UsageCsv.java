package io.gpufleet.allocation.http;

import io.gpufleet.allocation.app.UsageSumReader.Query;
import io.gpufleet.allocation.app.UsageSumReader.UsageSum;
import java.util.List;

/** Sums of usage as CSV (RFC 4180): one column for each group, then gpuSeconds and intervals. */
final class UsageCsv {
    /** First characters that make a spreadsheet take a cell for a formula, and the apostrophe that prevents it. */
    private static final String ESCAPED = "=+-@\t\r\n'\uFF1D\uFF0B\uFF0D\uFF20";

    private UsageCsv() {}

    static String encode(Query query, List<UsageSum> sums) {
        var text = new StringBuilder();
        query.names().forEach(name -> text.append(cell(name)).append(','));
        text.append("gpuSeconds,intervals\r\n");
        for (UsageSum sum : sums) {
            sum.group().values().forEach(value -> text.append(cell(value)).append(','));
            text.append(sum.gpuSeconds().toPlainString())
                    .append(',')
                    .append(sum.intervals())
                    .append("\r\n");
        }
        return text.toString();
    }

    private static String cell(String value) {
        String literal = !value.isEmpty() && ESCAPED.indexOf(value.charAt(0)) >= 0 ? "'" + value : value;
        return literal.matches("[A-Za-z0-9._:/ -]*") ? literal : '"' + literal.replace("\"", "\"\"") + '"';
    }
}

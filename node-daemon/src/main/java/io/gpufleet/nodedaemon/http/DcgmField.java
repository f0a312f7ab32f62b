package io.gpufleet.nodedaemon.http;

import io.gpufleet.nodedaemon.model.Meter;
import io.gpufleet.nodedaemon.model.Meters;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.Vitals;
import java.util.function.Function;

/**
 * One of dcgm-exporter's metrics, with its name, its type and its unit.
 *
 * @param name as dashboards know it
 * @param kind how it behaves where several hold the same device
 * @param help one line, with the unit
 * @param ofGpu what a GPU says
 * @param ofSlice what a MIG instance says of itself; unavailable where only the whole board can be asked
 */
record DcgmField(
        String name,
        Kind kind,
        String help,
        Function<Vitals, Reading<Double>> ofGpu,
        Function<Meters, Reading<Double>> ofSlice) {
    private static final Reading<Double> BOARD_ONLY = new Reading.Unavailable<>("measured for the whole board");

    /** How a quantity behaves where several hold the same device. */
    enum Kind {
        /** Is the same for all of them, and nobody adds it up: degrees, MHz, percent, ratios. */
        STATE("gauge"),
        /** Adds up to what the device has: watts, bytes. Each of n holders is shown one nth of it. */
        AMOUNT("gauge"),
        /** Counts since the driver was loaded; stands once, since a share of it would jump with every new holder. */
        COUNT("counter");

        private final String type;

        Kind(String type) {
            this.type = type;
        }

        String type() {
            return type;
        }
    }

    /** A quantity that only the whole board is asked for. */
    static <N extends Number> DcgmField ofBoard(
            String name, Kind kind, String help, Function<Vitals, Reading<N>> reading) {
        return new DcgmField(
                name, kind, help, vitals -> reading.apply(vitals).map(Number::doubleValue), _ -> BOARD_ONLY);
    }

    /** A quantity that instances are asked for, too. */
    static DcgmField ofMeter(String name, Kind kind, String help, Meter meter) {
        return scaled(name, kind, help, meter, 1);
    }

    /** A quantity whose unit is that many times the meter's. */
    static DcgmField scaled(String name, Kind kind, String help, Meter meter, double unit) {
        Function<Meters, Reading<Double>> reading = meters -> meters.of(meter).map(value -> value / unit);
        return new DcgmField(name, kind, help, vitals -> reading.apply(vitals.meters()), reading);
    }

    /** The same field, asked otherwise where the board is meant. */
    DcgmField asked(Function<Vitals, Reading<Double>> board) {
        return new DcgmField(name, kind, help, board, ofSlice);
    }
}

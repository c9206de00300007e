package dev.fenceline.bench;

import java.util.Arrays;
import java.util.List;

/** The ways to call a repository that are compared: each bare one, and what becomes of it. */
enum RepositoryForm {
    FIND(Call.FIND, "bare"),
    FIND_WRAPPED(Call.FIND, "wrapped, outside of a unit"),
    PAIR(Call.PAIR, "bare"),
    PAIR_LOCKED(Call.PAIR, "under the lock alone, unfenced"),
    PAIR_BY_HAND(Call.PAIR, "by hand, with fence.under: one transaction"),
    PAIR_WRAPPED(Call.PAIR, "wrapped: a unit of two transactions"),
    ADD(Call.ADD, "bare"),
    ADD_WRAPPED(Call.ADD, "wrapped, self-contained"),
    JDBI(Call.JDBI, "bare"),
    JDBI_WRAPPED(Call.JDBI, "wrapped: a unit of one transaction");

    /** What is called. */
    enum Call {
        FIND("find"),
        PAIR("find, then save, in auto-commit"),
        ADD("add: find and save in a transaction of its own"),
        JDBI("find, then save, over a handle of Jdbi");

        private final String label;

        Call(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }

        List<RepositoryForm> forms() {
            return Arrays.stream(RepositoryForm.values())
                    .filter(form -> form.call == this)
                    .toList();
        }

        /** The first of its forms: what the others are compared with. */
        RepositoryForm bare() {
            return forms().get(0);
        }
    }

    private final Call call;
    private final String label;

    RepositoryForm(Call call, String label) {
        this.call = call;
        this.label = label;
    }

    String label() {
        return label;
    }
}

package dev.fenceline.migrations;

/** When a trigger fires: pg_trigger.tgenabled. */
enum TriggerState {
    ALWAYS("A", "fires always"),
    ORIGIN("O", "does not fire under session_replication_role = replica"),
    REPLICA("R", "fires only under session_replication_role = replica"),
    DISABLED("D", "is disabled");

    private final String code;
    private final String words;

    TriggerState(String code, String words) {
        this.code = code;
        this.words = words;
    }

    static TriggerState of(String code) {
        for (TriggerState state : values()) {
            if (state.code.equals(code)) {
                return state;
            }
        }
        throw new IllegalArgumentException(
                "pg_trigger.tgenabled is '" + code + "', which no PostgreSQL up to 18 writes.");
    }

    String words() {
        return words;
    }
}

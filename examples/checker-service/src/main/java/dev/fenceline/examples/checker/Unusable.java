package dev.fenceline.examples.checker;

/** A request that cannot be carried out as it is. Nothing happened. */
final class Unusable extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Answer answer;

    Unusable(Answer answer) {
        super(answer.text());
        this.answer = answer;
    }

    Answer answer() {
        return answer;
    }
}

-- Invariant: a row here is committed together with the claim that it tells of, or not at all.
CREATE TABLE public.claim_log (
    lock       text NOT NULL,
    token      bigint NOT NULL,
    writer     text NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE FUNCTION public.log_claim() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO public.claim_log (lock, token, writer)
    VALUES (NEW.lock, NEW.token, current_setting('application_name'));
    RETURN NULL;
END
$$;
CREATE TRIGGER log_claim AFTER INSERT OR UPDATE OF token ON fenceline.guard FOR EACH ROW EXECUTE FUNCTION public.log_claim();

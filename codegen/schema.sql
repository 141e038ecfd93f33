create table oncely_migrations (
  name character varying(255) not null,
  timestamp character varying(255) not null,
  constraint oncely_migrations_pkey PRIMARY KEY (name)
);

create table orders (
  tenant text collate "C" not null,
  order_number text collate "C" not null,
  actor text collate "C" not null,
  operation text collate "C" not null,
  idempotency_key text collate "C" not null,
  sku text collate "C" not null,
  quantity integer not null,
  amount_minor bigint not null,
  currency text collate "C" not null,
  status text collate "C" not null,
  version integer not null default 1,
  created_at timestamp with time zone not null default statement_timestamp(),
  constraint orders_actor_check CHECK (char_length(actor) >= 1 AND char_length(actor) <= 200 AND octet_length(actor) <= 800),
  constraint orders_amount_minor_check CHECK (amount_minor >= 0),
  constraint orders_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint orders_idempotency_key UNIQUE (tenant, actor, operation, idempotency_key),
  constraint orders_idempotency_key_check CHECK (octet_length(idempotency_key) >= 1 AND octet_length(idempotency_key) <= 255),
  constraint orders_operation_check CHECK (char_length(operation) >= 1 AND char_length(operation) <= 200 AND octet_length(operation) <= 800),
  constraint orders_order_number_check CHECK (octet_length(order_number) >= 1 AND octet_length(order_number) <= 100),
  constraint orders_pkey PRIMARY KEY (tenant, order_number),
  constraint orders_quantity_check CHECK (quantity > 0),
  constraint orders_sku_check CHECK (char_length(sku) >= 1 AND char_length(sku) <= 200 AND octet_length(sku) <= 800),
  constraint orders_status_check CHECK (status = ANY (ARRAY['placed'::text, 'paid'::text, 'cancelled'::text])),
  constraint orders_tenant_check CHECK (char_length(tenant) >= 1 AND char_length(tenant) <= 200 AND octet_length(tenant) <= 800),
  constraint orders_version_check CHECK (version >= 1)
);

create table outbox (
  position bigint not null generated always as identity,
  id uuid not null,
  tenant text collate "C" not null,
  aggregatetype text collate "C" not null,
  aggregateid text collate "C" not null,
  type text collate "C" not null,
  payload json not null,
  sequence bigint,
  headers json not null,
  created_at timestamp with time zone not null default statement_timestamp(),
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone,
  leased_until timestamp with time zone,
  fence bigint not null default 0,
  last_error text,
  published_at timestamp with time zone,
  dead_at timestamp with time zone,
  constraint outbox_aggregateid_check CHECK (char_length(aggregateid) >= 1 AND char_length(aggregateid) <= 200 AND octet_length(aggregateid) <= 800),
  constraint outbox_aggregatetype_check CHECK (char_length(aggregatetype) >= 1 AND char_length(aggregatetype) <= 200 AND octet_length(aggregatetype) <= 800),
  constraint outbox_attempts_check CHECK (attempts >= 0),
  constraint outbox_end_check CHECK (published_at IS NULL OR dead_at IS NULL),
  constraint outbox_pkey PRIMARY KEY (id),
  constraint outbox_sequence_check CHECK (sequence >= 0),
  constraint outbox_tenant_check CHECK (char_length(tenant) >= 1 AND char_length(tenant) <= 200 AND octet_length(tenant) <= 800),
  constraint outbox_type_check CHECK (char_length(type) >= 1 AND char_length(type) <= 200 AND octet_length(type) <= 800)
);

create table quota_uses (
  tenant text collate "C" not null,
  actor text collate "C" not null,
  window_ms bigint not null,
  bucket timestamp with time zone not null,
  backend integer not null,
  uses integer not null,
  forget_at timestamp with time zone not null,
  constraint quota_uses_actor_check CHECK (char_length(actor) >= 1 AND char_length(actor) <= 200 AND octet_length(actor) <= 800),
  constraint quota_uses_pkey PRIMARY KEY (tenant, actor, window_ms, bucket, backend),
  constraint quota_uses_tenant_check CHECK (char_length(tenant) >= 1 AND char_length(tenant) <= 200 AND octet_length(tenant) <= 800),
  constraint quota_uses_uses_check CHECK (uses >= 1)
);

create table records (
  tenant text collate "C" not null,
  actor text collate "C" not null,
  operation text collate "C" not null,
  key text collate "C" not null,
  attempt uuid not null,
  state text collate "C" not null,
  fingerprint_algorithm text collate "C" not null,
  fingerprint_version integer not null,
  fingerprint bytea not null,
  response bytea,
  response_stored boolean not null default true,
  response_status smallint,
  response_headers json,
  resource_type text collate "C",
  resource_id text collate "C",
  created_at timestamp with time zone not null default statement_timestamp(),
  completed_at timestamp with time zone,
  replay_until timestamp with time zone not null,
  expired_at timestamp with time zone,
  constraint records_actor_check CHECK (char_length(actor) >= 1 AND char_length(actor) <= 200 AND octet_length(actor) <= 800),
  constraint records_fingerprint_algorithm_check CHECK (fingerprint_algorithm = ANY (ARRAY['sha256'::text, 'hmac-sha256'::text])),
  constraint records_fingerprint_check CHECK (octet_length(fingerprint) = 32),
  constraint records_fingerprint_version_check CHECK (fingerprint_version >= 1),
  constraint records_key_check CHECK (octet_length(key) <= 255 AND key ~ '^[!-~]([ -~]*[!-~])?$'::text),
  constraint records_operation_check CHECK (char_length(operation) >= 1 AND char_length(operation) <= 200 AND octet_length(operation) <= 800),
  constraint records_pkey PRIMARY KEY (tenant, actor, operation, key),
  constraint records_resource_check CHECK ((resource_type IS NULL) = (resource_id IS NULL)),
  constraint records_resource_id_check CHECK (char_length(resource_id) >= 1 AND char_length(resource_id) <= 200 AND octet_length(resource_id) <= 800),
  constraint records_resource_type_check CHECK (char_length(resource_type) >= 1 AND char_length(resource_type) <= 200 AND octet_length(resource_type) <= 800),
  constraint records_response_check CHECK (response IS NOT NULL OR response_status IS NULL AND response_headers IS NULL),
  constraint records_response_status_check CHECK (response_status >= 100 AND response_status <= 599),
  constraint records_state_check CHECK (
CASE state
    WHEN 'claimed'::text THEN completed_at IS NULL AND expired_at IS NULL AND response IS NULL
    WHEN 'completed'::text THEN completed_at IS NOT NULL AND expired_at IS NULL AND response IS NOT NULL
    WHEN 'rejected'::text THEN completed_at IS NOT NULL AND expired_at IS NULL AND response IS NOT NULL
    WHEN 'expired'::text THEN completed_at IS NOT NULL AND expired_at IS NOT NULL AND response IS NULL
    ELSE false
END),
  constraint records_tenant_check CHECK (char_length(tenant) >= 1 AND char_length(tenant) <= 200 AND octet_length(tenant) <= 800)
);

create table sink (
  consumer text collate "C" not null,
  event_id text collate "C" not null,
  applied_at timestamp with time zone not null default statement_timestamp(),
  constraint sink_consumer_check CHECK (octet_length(consumer) >= 1 AND octet_length(consumer) <= 200),
  constraint sink_event_id_check CHECK (octet_length(event_id) >= 1 AND octet_length(event_id) <= 255),
  constraint sink_pkey PRIMARY KEY (consumer, event_id)
);

create table sink_sequences (
  consumer text collate "C" not null,
  tenant text collate "C" not null,
  aggregatetype text collate "C" not null,
  aggregateid text collate "C" not null,
  sequence bigint not null,
  constraint sink_sequences_aggregateid_check CHECK (char_length(aggregateid) >= 1 AND char_length(aggregateid) <= 200 AND octet_length(aggregateid) <= 800),
  constraint sink_sequences_aggregatetype_check CHECK (char_length(aggregatetype) >= 1 AND char_length(aggregatetype) <= 200 AND octet_length(aggregatetype) <= 800),
  constraint sink_sequences_consumer_check CHECK (octet_length(consumer) >= 1 AND octet_length(consumer) <= 200),
  constraint sink_sequences_pkey PRIMARY KEY (consumer, tenant, aggregatetype, aggregateid),
  constraint sink_sequences_sequence_check CHECK (sequence >= 0),
  constraint sink_sequences_tenant_check CHECK (char_length(tenant) >= 1 AND char_length(tenant) <= 200 AND octet_length(tenant) <= 800)
);

CREATE INDEX outbox_pending_idx ON outbox USING btree ("position") WHERE published_at IS NULL AND dead_at IS NULL;

CREATE INDEX quota_uses_forget_at_idx ON quota_uses USING btree (forget_at);

CREATE INDEX records_expired_at_idx ON records USING btree (expired_at) WHERE expired_at IS NOT NULL;

CREATE INDEX records_replay_until_idx ON records USING btree (replay_until) WHERE expired_at IS NULL;

create function records_refuse_unfinished() returns trigger language plpgsql as $$
        begin
          if exists (
            select from "$schema".records r
            where r.tenant = new.tenant and r.actor = new.actor and r.operation = new.operation
              and r.key = new.key and r.state = 'claimed'
          ) then
            raise exception 'a claimed idempotency key must not be committed without an outcome'
              using errcode = 'check_violation', schema = tg_table_schema, table = tg_table_name,
                constraint = tg_name,
                hint = 'Let oncely commit its own transaction, and name the constraints in SET CONSTRAINTS instead of ALL.';
          end if;
          return null;
        end$$;

CREATE CONSTRAINT TRIGGER records_outcome_at_commit AFTER INSERT OR UPDATE ON records DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.state = 'claimed'::text) EXECUTE FUNCTION records_refuse_unfinished();

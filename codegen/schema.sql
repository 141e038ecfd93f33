create domain orders_text as text collate "C"
  constraint orders_text_check CHECK (char_length(VALUE) >= 1 AND char_length(VALUE) <= 200);

create domain outbox_attempts as integer
  constraint outbox_attempts_check CHECK (VALUE >= 0);

create domain outbox_sequence as bigint
  constraint outbox_sequence_check CHECK (VALUE >= 0);

create domain outbox_text as text collate "C"
  constraint outbox_text_check CHECK (char_length(VALUE) >= 1 AND char_length(VALUE) <= 200);

create domain quota_uses_uses as integer
  constraint quota_uses_uses_check CHECK (VALUE >= 1);

create domain records_fingerprint as bytea
  constraint records_fingerprint_check CHECK (octet_length(VALUE) = 32);

create domain records_fingerprint_algorithm as text collate "C"
  constraint records_fingerprint_algorithm_check CHECK (VALUE = ANY (ARRAY['sha256'::text, 'hmac-sha256'::text]));

create domain records_fingerprint_version as integer
  constraint records_fingerprint_version_check CHECK (VALUE >= 1);

create domain records_key as text collate "C"
  constraint records_key_check CHECK (octet_length(VALUE) <= 255 AND (VALUE COLLATE "C") ~ '^[!-~]([ -~]*[!-~])?$'::text);

create domain records_response_status as smallint
  constraint records_response_status_check CHECK (VALUE >= 100 AND VALUE <= 599);

create domain records_text as text collate "C"
  constraint records_text_check CHECK (char_length(VALUE) >= 1 AND char_length(VALUE) <= 200);

create domain sink_consumer as text collate "C"
  constraint sink_consumer_check CHECK (octet_length(VALUE) >= 1 AND octet_length(VALUE) <= 200);

create domain sink_event_id as text collate "C"
  constraint sink_event_id_check CHECK (octet_length(VALUE) >= 1 AND octet_length(VALUE) <= 255);

create domain sink_sequence as bigint
  constraint sink_sequence_check CHECK (VALUE >= 0);

create domain sink_text as text collate "C"
  constraint sink_text_check CHECK (char_length(VALUE) >= 1 AND char_length(VALUE) <= 200);

CREATE OR REPLACE FUNCTION is_sound_record(state text, claimed boolean, response bytea, response_status smallint, response_headers json, completed_at timestamp with time zone, expired_at timestamp with time zone, resource_type text, resource_id text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return case
    when response is not null then
      state in ('completed', 'rejected') and completed_at is not null and expired_at is null
      and claimed is null
    when response_status is not null or response_headers is not null then false
    when claimed then state = 'claimed' and completed_at is null and expired_at is null
    else state = 'expired' and completed_at is not null and expired_at is not null and claimed is null
  end
  and (resource_type is null) = (resource_id is null);
end
$function$;

create table uncommittable (
  claimed boolean not null,
  constraint uncommittable_check CHECK (false),
  constraint uncommittable_pkey PRIMARY KEY (claimed)
);

create table oncely_migrations (
  name character varying(255) not null,
  timestamp character varying(255) not null,
  constraint oncely_migrations_pkey PRIMARY KEY (name)
);

create table orders (
  tenant orders_text not null,
  order_number text collate "C" not null,
  actor orders_text not null,
  operation orders_text not null,
  idempotency_key text collate "C" not null,
  sku orders_text not null,
  quantity integer not null,
  amount_minor bigint not null,
  currency text collate "C" not null,
  status text collate "C" not null,
  version integer not null default 1,
  created_at timestamp with time zone not null default statement_timestamp(),
  constraint orders_amount_minor_check CHECK (amount_minor >= 0),
  constraint orders_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  constraint orders_idempotency_key UNIQUE (tenant, actor, operation, idempotency_key),
  constraint orders_idempotency_key_check CHECK (octet_length(idempotency_key) >= 1 AND octet_length(idempotency_key) <= 255),
  constraint orders_order_number_check CHECK (octet_length(order_number) >= 1 AND octet_length(order_number) <= 100),
  constraint orders_pkey PRIMARY KEY (tenant, order_number),
  constraint orders_quantity_check CHECK (quantity > 0),
  constraint orders_status_check CHECK (status = ANY (ARRAY['placed'::text, 'paid'::text, 'cancelled'::text])),
  constraint orders_version_check CHECK (version >= 1)
);

create table outbox (
  position bigint not null generated always as identity,
  id uuid not null,
  tenant outbox_text not null,
  aggregatetype outbox_text not null,
  aggregateid outbox_text not null,
  type outbox_text not null,
  payload json not null,
  sequence outbox_sequence,
  headers json not null,
  created_at timestamp with time zone not null default statement_timestamp(),
  attempts outbox_attempts not null default 0,
  next_attempt_at timestamp with time zone,
  leased_until timestamp with time zone,
  fence bigint not null default 0,
  last_error text,
  published_at timestamp with time zone,
  dead_at timestamp with time zone,
  constraint outbox_pkey PRIMARY KEY (id)
);

create table quota_uses (
  tenant records_text not null,
  actor records_text not null,
  window_ms bigint not null,
  bucket timestamp with time zone not null,
  backend integer not null,
  uses quota_uses_uses not null,
  forget_at timestamp with time zone not null,
  constraint quota_uses_pkey PRIMARY KEY (tenant, actor, window_ms, bucket, backend)
);

create table records (
  tenant records_text not null,
  actor records_text not null,
  operation records_text not null,
  key records_key not null,
  attempt uuid not null,
  state text collate "C" not null,
  fingerprint_algorithm records_fingerprint_algorithm not null,
  fingerprint_version records_fingerprint_version not null,
  fingerprint records_fingerprint not null,
  response bytea,
  response_stored boolean not null default true,
  claimed boolean default true,
  response_status records_response_status,
  response_headers json,
  resource_type records_text,
  resource_id records_text,
  created_at timestamp with time zone not null default statement_timestamp(),
  completed_at timestamp with time zone,
  replay_until timestamp with time zone not null,
  expired_at timestamp with time zone,
  constraint records_pkey PRIMARY KEY (tenant, actor, operation, key),
  constraint records_state_check CHECK (is_sound_record(state, claimed, response, response_status::smallint, response_headers, completed_at, expired_at, resource_type::text, resource_id::text)),
  constraint records_outcome_at_commit FOREIGN KEY (claimed) REFERENCES uncommittable(claimed) DEFERRABLE INITIALLY DEFERRED
);

create table sink (
  consumer sink_consumer not null,
  event_id sink_event_id not null,
  applied_at timestamp with time zone not null default statement_timestamp(),
  constraint sink_pkey PRIMARY KEY (consumer, event_id)
);

create table sink_sequences (
  consumer sink_consumer not null,
  tenant sink_text not null,
  aggregatetype sink_text not null,
  aggregateid sink_text not null,
  sequence sink_sequence not null,
  constraint sink_sequences_pkey PRIMARY KEY (consumer, tenant, aggregatetype, aggregateid)
);

CREATE INDEX outbox_pending_idx ON outbox USING btree ("position") WHERE published_at IS NULL AND dead_at IS NULL;

CREATE INDEX quota_uses_forget_at_idx ON quota_uses USING btree (forget_at);

CREATE INDEX records_expired_at_idx ON records USING btree (expired_at) WHERE expired_at IS NOT NULL;

CREATE INDEX records_replay_until_idx ON records USING btree (replay_until) WHERE expired_at IS NULL;

CREATE INDEX sink_applied_idx ON sink USING btree (consumer, applied_at);

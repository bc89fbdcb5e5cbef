"""Every event that a process may log, with what it means: the one word list."""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["EVENTS"]

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        # the house
        "line_starting": "The supervisor makes memory and starts the processes.",
        "line_ready": "Every process is ready; the camera has been started last.",
        "line_stopping": "The line is asked to stop, or cannot go on; `why` says it.",
        "line_stopped": "Every process has ended.",
        "process_starting": "A process was started.",
        "process_ready": "A process says READY.",
        "process_ended": "A process ended as it was asked to.",
        "process_died": "A process ended by itself; `code` is its exit code or minus its signal.",
        "process_stalled": "A process did not move for longer than its patience; it is killed.",
        "process_failed": "A process ends because of an error that it names.",
        "process_late": "A process did not finish in time when it was stopped; it is killed.",
        "process_hurried": "A process is to end at once, but with its outputs in the reject state.",
        "process_not_drained": "A process ends with something still in its hands.",
        "slots_reclaimed": "The slots of a process that died are free again; its parts are FAULT.",
        "slot_orphaned": "A slot was handed to a process that never got its ticket; it is free.",
        "message_foreign": "Something that is not a message of this run came in; it was dropped.",
        "trouble": "Something that a process needs does not answer; `what` says what.",
        "recovered": "It answers again.",
        "supervisor_died": "The supervisor was killed; the record writes what was told, and ends.",
        "priority_refused": "The sink may not run with real-time priority; latency will vary more.",
        "reload_checking": "SIGHUP: the station file is tried beside the running line.",
        "reload_refused": "The changed file or model cannot be run (`error`); the line goes on.",
        "reload_rolled_back": "The changed line did not get ready (`error`); the old one runs.",
        "simulator_died": "A PLC simulator of this trial ended by itself.",
        # the sink
        "plc_reached": "The PLC answers; the sink agreed with it on the last part told.",
        "plc_lost": "The PLC does not answer (`error`); parts run out of time untold.",
        "parts_unknown": "A restarted sink cannot know the parts between; the PLC rejects them.",
        "triggers_missed": "The trigger counter jumped: so many parts are FAULT (trigger missed).",
        "trigger_ids_restarted": "The trigger counter went back: the PLC or its program restarted.",
        "journal_damaged": "So many entries of the sink's journal cannot be read: report this.",
        "journal_refused": "The journal of an earlier run is of another version; it was let go.",
        "verdict_stray": "A verdict came for a part that is not open; it changes nothing.",
        "verdict_not_acknowledged": "The PLC did not take a verdict in time: overrun.",
        "plc_silent": "The PLC answers, but its heartbeat stands still: its program does not run.",
        "plc_beats_again": "The PLC's heartbeat counts again.",
        "trigger_counter_set": "The PLC set its trigger counter while TRIGGER_ENABLE was 0.",
        "command_taken": "A command of the PLC was taken up.",
        "command_done": "It was carried out; `recipe` is the active one.",
        "command_failed": "It was not (`why`, see CommandResult); nothing has changed.",
        "verdict_carried_out_late": "A verdict that was given up had been carried out.",
        # the operator's view
        "web_listening": "The operator's view answers at `url`.",
        "web_login": "Somebody logged in at the view.",
        "web_login_refused": "Somebody gave a wrong name or password at the view.",
        # the ejector
        "ejector_reached": "The I/O module answers; the output is released, the belt is empty.",
        "ejector_lost": "The I/O module does not answer (`error`); all on the belt is rejected.",
        "ejector_parts_lost": "Where so many parts are is not known any more; they are rejected.",
        "encoder_jumped": "The counter moved as no belt does; all on the belt is rejected.",
        "trigger_place_unknown": "It is not known where a part was triggered; it is rejected.",
        "part_not_let_pass": "A part that is OK was rejected all the same; `cause` says why.",
        "part_unknown": "The eye in front of the ejector saw what nobody triggered: rejected.",
        "reject_not_confirmed": "Rejected parts were not seen in the bin in time.",
        # the OPC UA server
        "opcua_serving": "The station's OPC UA server listens at `endpoint`.",
        "opcua_plc_came": "A client that writes the PLC's values is logged in.",
        "opcua_plc_went": "The client that wrote the PLC's values is gone; vision is not Ready.",
        "opcua_login_refused": "A client was refused; `why` names the check it did not pass.",
        "opcua_sink_lost": "What the sink sent cannot be used (`error`); it connects again.",
        # the engine
        "model_loaded": "A model is loaded, proved and warm; device and backend as read back.",
        "engine_fell_back": "The self-test failed (`why`); the slower backend `plain` judges.",
        "engine_unproven": "The model has no golden outputs; only its own backends were compared.",
        "engine_building": "No kept engine fits (`why`); one is built, and the PLC sees no Ready.",
        "engine_built": "The engine is built, and kept in `folder`.",
        "engine_memory": "What the process holds with all models loaded and warm, MB.",
        "engine_mps": "The card is shared by MPS: killing a process at work can hang it for all.",
        "engine_failed": "A run of a model failed (`error`); its parts are FAULT.",
        # the record
        "record_database_moved_aside": "The database is damaged or of another version; it is kept.",
        "record_write_failed": "Events cannot be written (`error`); they wait in memory.",
        "record_writes_again": "Events can be written again, and none was lost meanwhile.",
        "part_untold": "The line was killed with this part in it; `was` says how far it was.",
        "record_events_lost": "The record ends with so many events that it could not write.",
        "events_expired_unsent": "Events were deleted that `receiver` has never got: it was away.",
        "archive_encode_failed": "A picture cannot be written as a file; its event is kept.",
        "archive_write_failed": "A picture cannot be written to disk; its event is kept.",
        "archive_check_failed": "The archive's disk does not answer; nothing was deleted.",
        "archive_paused": "Space is short: no pictures are kept until the oldest have made room.",
        "archive_resumed": "There is room for pictures again.",
        # the exporter
        "metrics_serving": "The figures for Prometheus are served at `url`.",
        # the forwarders
        "forward_works_again": "A receiver takes events again; it gets all that it missed.",
        "forward_begins_anew": "A receiver begins a database that is new to it (docs/forward.md).",
        "forward_set_back": "The record lost its last events (power cut); some are sent again.",
        "event_refused": "A receiver will never take this event (`error`); it is counted as lost.",
        "forward_stray_error": "A library left an error behind; it changes nothing.",
    }
)
"""Name of the event -> its meaning. A test compares it with the calls in the tree."""

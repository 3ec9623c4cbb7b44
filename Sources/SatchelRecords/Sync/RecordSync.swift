import SatchelCore
import SatchelRemote
import SatchelStorage

/// The sync of one record; knows nothing of the others.
struct RecordSync {
  let run: RecordSyncRun
  let id: String
  /// What is believed of the object: only ever tested by a condition, or read again.
  var belief: Belief
  /// Whether it was counted as sent.
  var hasMoved = false

  enum Belief {
    /// It is to be read.
    case nothing
    /// It is what was agreed.
    case same(ETag)
    case absent
    /// It was read.
    case object(RecordEnvelope, ETag)
  }

  /// What was found out of both sides.
  struct Sides {
    var state: RecordState
    var base: RecordEnvelope?
    var remote: RecordRemoteSide
    /// The object, where it was read.
    var object: RecordEnvelope?
    /// Its tag; nil when there is none.
    var etag: ETag?
  }

  /// Somebody else was faster.
  struct Changed: Error {}

  /// The collection does not take what is there; perhaps it does once it has others, to which that refers.
  struct Refused: Error { var error: SatchelError }

  var ledger: any RecordLedger { run.ledger }

  init(_ run: RecordSyncRun, _ id: String, _ sighting: RecordPlan.Sighting, _ mark: RecordMark?) {
    self.run = run
    self.id = id
    belief = .nothing
    guard let mark else { return }
    switch sighting {
    case .listed(let etag?) where etag == mark.etag: belief = .same(etag)
    // Nothing of ours ever was there, as far as we know.
    case .unlisted where mark.etag == nil && !mark.isSending: belief = .absent
    case .unlisted where !run.rules.asksForUnlisted: belief = .absent
    case .listed, .unlisted: break
    }
  }

  mutating func perform() throws {
    let start = Clock.monotonic.now()
    for failures in 1...max(run.options.rounds, 1) {
      do {
        // One decision leads to another, but never to many.
        for _ in 0..<8 where try step() { return }
        throw run.confused(id)
      } catch is Changed {
        belief = .nothing
      }
      try run.remote.pause(afterFailures: failures, since: start, run.tooFast(id))
    }
    throw run.tooFast(id)
  }

  /// - Returns: whether the record is done; else there is more to do at once
  private mutating func step() throws -> Bool {
    var state = try ledger.state(of: id)
    if !run.rules.heedsSending { state.sending = nil }
    var sides = try look(state)
    if let sending = state.sending {
      if try !resolve(sending, &sides) { return false }
    }
    let decision = try decide(&sides)
    return try carryOut(decision, sides)
  }

  // MARK: What there is

  private mutating func look(_ state: RecordState) throws -> Sides {
    var sides = Sides(state: state, remote: .absent)
    // What is as it was agreed, on both sides, is most of all, and need not be understood.
    if state.pending != nil || state.sending != nil { try readBase(&sides) }
    switch belief {
    case .same(let etag) where etag == state.etag && state.base != nil:
      sides.remote = .same
      sides.etag = etag
      return sides
    case .absent where state.sending == nil:
      if !run.rules.asksForUnlisted, var gone = state.local, state.base != nil {
        gone.document = nil
        sides.remote = .other(try RecordVersion(gone))
        sides.etag = state.etag
      }
      return sides
    case .object(let envelope, let etag):
      try see(envelope, etag, &sides)
      return sides
    default: break
    }
    switch try run.remote.read(id, unless: state.base == nil ? nil : state.etag) {
    case .absent: break
    case .known:
      sides.remote = .same
      sides.etag = state.etag
    case .object(let envelope, let etag):
      try see(envelope, etag, &sides)
    }
    return sides
  }

  private func readBase(_ sides: inout Sides) throws {
    if sides.base == nil { sides.base = try sides.state.base.map { try RecordEnvelope(parsing: $0, id: id) } }
  }

  private func see(_ envelope: RecordEnvelope, _ etag: ETag, _ sides: inout Sides) throws {
    sides.object = envelope
    sides.etag = etag
    try readBase(&sides)
    if envelope.bytes == sides.base?.bytes {
      sides.remote = .same
    } else if sides.base?.isBuilt(on: envelope) == true {
      sides.remote = .older
    } else if envelope.content.isDeleted, !run.rules.knowsTombstones {
      sides.remote = .absent
    } else {
      sides.remote = .other(try RecordVersion(run.present(envelope)))
    }
  }

  private func decide(_ sides: inout Sides) throws -> RecordDecision {
    let state = sides.state
    if case .same = sides.remote, state.pending == nil { return .nothing }
    if case .absent = sides.remote { try readBase(&sides) }
    let base = try sides.base.map { try RecordVersion(run.present($0)) }
    return RecordDecision.decide(
      local: try state.local.map { try RecordVersion($0) }, isChanged: state.pending != nil, base: base,
      remote: sides.remote, onConflict: run.options.onConflict)
  }

  // MARK: What was on its way

  /// Finds out what became of an envelope that was about to be sent.
  ///
  /// - Returns: whether the record can be decided about; else it is to be looked at again
  private mutating func resolve(_ sending: RecordSending, _ sides: inout Sides) throws -> Bool {
    let sent = try RecordEnvelope(parsing: sending.envelope, id: id)
    if let object = sides.object {
      let isThere = object.bytes == sent.bytes
      if isThere || object.isBuilt(on: sent) {
        // What came later was made on top of it, and is no conflict with it.
        if !run.options.isDryRun {
          try changing { try ledger.settle(id, sequence: sending.sequence, etag: isThere ? sides.etag : nil) }
        }
        countSent(sent)
        if run.options.isDryRun { return try preview(sent, &sides) }
        if let etag = sides.etag { belief = isThere ? .same(etag) : .object(object, etag) }
        return false
      }
    }
    if case .other = sides.remote {
      // It was to replace what is no longer there, so it never will arrive.
      if !run.options.isDryRun {
        try changing { try ledger.forgetSending(id, sequence: sending.sequence) }
      }
      sides.state.sending = nil
      return true
    }
    // The same bytes once more: should the first ones be still on their way, nobody can tell the difference.
    if run.options.isDryRun {
      countSent(sent)
      return try preview(sent, &sides)
    }
    try put(sent, sequence: sending.sequence, over: sides.etag)
    return false
  }

  /// In a dry run, what the record is once what was on its way has arrived.
  private func preview(_ sent: RecordEnvelope, _ sides: inout Sides) throws -> Bool {
    let isLater = sides.state.sending?.sequence != sides.state.pending
    if !isLater { sides.state.pending = nil }
    sides.base = sent
    sides.state.sending = nil
    guard let object = sides.object, object.isBuilt(on: sent), let etag = sides.etag else {
      sides.remote = .same
      return true
    }
    try see(object, etag, &sides)
    return true
  }

  /// Notes what the record is about to be there, and makes it so.
  mutating func put(_ envelope: RecordEnvelope, sequence: Int64, over etag: ETag?) throws {
    try run.checkConditions()
    let outcome = try run.remote.write(
      id, envelope.bytes, etag.map { ObjectCondition.ifMatch($0) } ?? .ifAbsent)
    guard case .written(let etag) = outcome else { throw Changed() }
    if run.rules.heedsSending {
      try changing { try ledger.settle(id, sequence: sequence, etag: etag) }
    }
    if !run.rules.settlesOnlyWhatWasSent || !run.rules.heedsSending {
      let stamp = try ledger.state(of: id).stamp
      if run.rules.settlesOnlyWhatWasSent, stamp.pending != sequence { throw Changed() }
      try changing {
        try ledger.take(
          id, stamp: stamp, envelope: envelope.bytes, etag: etag, taking: .agree, isLost: false)
      }
    }
    countSent(envelope)
    belief = .same(etag)
  }

  mutating func countSent(_ envelope: RecordEnvelope) {
    hasMoved = true
    run.count { report in
      if envelope.content.isDeleted { report.deletedRemotely += 1 } else { report.uploaded += 1 }
    }
  }

  /// What the ledger calls busy has changed meanwhile.
  func changing(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SatchelError where error.code == .busy {
      throw Changed()
    }
  }
}

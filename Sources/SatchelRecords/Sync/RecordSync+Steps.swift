import SatchelCore
import SatchelRemote
import SatchelStorage

extension RecordSync {
  /// Does what was decided.
  ///
  /// - Returns: whether the record is done; else there is more to do at once
  mutating func carryOut(_ decision: RecordDecision, _ sides: Sides) throws -> Bool {
    if case .other = sides.remote { try checkVersion(sides.object) }
    if run.options.isDryRun {
      preview(decision, sides)
      return true
    }
    switch decision {
    case .nothing:
      return try rest(sides)
    case .agree:
      try take(sides, .agree, isLost: false)
      countUnchanged()
      return true
    case .take(let isLost):
      guard case .other(let remote) = sides.remote else { throw run.confused(id) }
      try take(sides, .replace(remote.content), isLost: isLost)
      count(taken: remote.content, sides, isLost: isLost)
      return true
    case .merge(let content, let isLost):
      try take(sides, .merge(content), isLost: isLost)
      run.count {
        $0.merged += 1
        $0.conflicts += 1
      }
      return false
    case .ask:
      return try ask(sides)
    case .renew:
      try changing { try ledger.renew(id, stamp: sides.state.stamp) }
      // The state is another one now, what is there is not.
      if let object = sides.object, let etag = sides.etag { belief = .object(object, etag) }
      return false
    case .send:
      if case .other = sides.remote {
        try take(sides, .keep, isLost: false)
        run.count { $0.conflicts += 1 }
        return false
      }
      try send(sides)
      return true
    }
  }

  /// There is nothing to move; but what the object is called may be news.
  private func rest(_ sides: Sides) throws -> Bool {
    if sides.object != nil, let etag = sides.etag, let base = sides.state.base, etag != sides.state.etag {
      try changing {
        try ledger.take(
          id, stamp: sides.state.stamp, envelope: base, etag: etag, taking: .agree, isLost: false)
      }
    }
    countUnchanged()
    return true
  }

  private func countUnchanged() {
    if !hasMoved { run.count { $0.unchanged += 1 } }
  }

  private mutating func take(_ sides: Sides, _ taking: RecordTaking, isLost: Bool) throws {
    guard let etag = sides.etag, let bytes = sides.object?.bytes ?? sides.state.base else {
      throw run.confused(id)
    }
    let kept = run.rules.updatesBase ? bytes : sides.state.base ?? bytes
    do {
      try changing {
        try ledger.take(
          id, stamp: sides.state.stamp, envelope: kept, etag: etag, taking: taking, isLost: isLost)
      }
    } catch let error as SatchelError where error.isRejectedDocument {
      throw Refused(error: error)
    }
    belief = .same(etag)
  }

  private func count(taken content: RecordContent, _ sides: Sides, isLost: Bool) {
    let hadContent = sides.state.local.map { !$0.isDeleted } ?? false
    run.count { report in
      if isLost { report.conflicts += 1 }
      switch (content.isDeleted, hadContent) {
      case (false, _): report.downloaded += 1
      case (true, true): report.deletedLocally += 1
      case (true, false): report.unchanged += 1
      }
    }
  }

  private func ask(_ sides: Sides) throws -> Bool {
    run.count { $0.conflicts += 1 }
    guard let object = sides.object, let etag = sides.etag else { throw run.confused(id) }
    if etag == sides.state.conflict { return true }
    try changing {
      try ledger.ask(id, stamp: sides.state.stamp, envelope: object.bytes, etag: etag)
    }
    return true
  }

  private mutating func send(_ sides: Sides) throws {
    guard let sequence = sides.state.pending, let content = sides.state.local else {
      throw run.confused(id)
    }
    if let base = sides.base { try checkVersion(base) }
    let envelope = RecordEnvelope(
      content, id: id, version: run.binding.version, writer: run.binding.writer, on: sides.base)
    guard envelope.bytes.count <= RecordEnvelope.maximumSize else {
      throw SatchelError(
        .invalid, "\(id): a record that is synchronized has at most \(RecordEnvelope.maximumSize) bytes")
    }
    if run.rules.heedsSending {
      try changing { try ledger.noteSending(id, sequence: sequence, envelope: envelope.bytes) }
    }
    try put(envelope, sequence: sequence, over: sides.etag)
  }

  /// What a newer version of the app has written is neither taken nor overwritten.
  private func checkVersion(_ envelope: RecordEnvelope?) throws {
    guard let envelope, envelope.version > run.binding.version else { return }
    throw SatchelError(
      .newer, "\(id): is of version \(envelope.version), and this is version \(run.binding.version)")
  }

  /// Counts what would be done.
  private mutating func preview(_ decision: RecordDecision, _ sides: Sides) {
    func sent(_ content: RecordContent?) {
      guard let content else { return }
      let envelope = RecordEnvelope(
        content, id: id, version: run.binding.version, writer: run.binding.writer,
        on: sides.object ?? sides.base)
      countSent(envelope)
      run.count { $0.bytesUp += Int64(envelope.bytes.count) }
    }
    switch decision {
    case .nothing, .agree: countUnchanged()
    case .take(let isLost):
      if case .other(let remote) = sides.remote { count(taken: remote.content, sides, isLost: isLost) }
    case .merge(let content, _):
      run.count {
        $0.merged += 1
        $0.conflicts += 1
      }
      sent(content)
    case .ask: run.count { $0.conflicts += 1 }
    case .renew: sent(sides.state.local)
    case .send:
      if case .other = sides.remote { run.count { $0.conflicts += 1 } }
      sent(sides.state.local)
    }
  }
}

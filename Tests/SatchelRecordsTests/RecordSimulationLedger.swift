import SatchelCore
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage

@testable import SatchelRecords

/// The ledger of a device as one sync sees it: a device that has crashed does nothing more.
struct RecordSimulationLedger: RecordLedger {
  let world: RecordSimulationWorld
  let device: RecordSimulationDevice
  let sync: SimulationSync<RecordSyncReport>

  private var ledger: any SimulatedRecords { device.records }

  private func step<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
    try world.step(device, sync, name, body)
  }

  func binding() throws -> RecordBinding { try step("binding") { try ledger.binding() } }

  func begin(user: UserID) throws { try step("begin") { try ledger.begin(user: user) } }

  func marks(from cursor: RecordCursor?, limit: Int) throws -> RecordMarks {
    try step("marks") { try ledger.marks(from: cursor, limit: limit) }
  }

  func marks(of ids: [String]) throws -> [RecordMark?] {
    try step("marks of \(ids)") { try ledger.marks(of: ids) }
  }

  func state(of id: String) throws -> RecordState { try step("state \(id)") { try ledger.state(of: id) } }

  func migrated(_ document: [UInt8], from version: Int64) throws -> [UInt8] {
    try ledger.migrated(document, from: version)
  }

  func noteSending(_ id: String, sequence: Int64, envelope: [UInt8]) throws {
    try step("sending \(id)") {
      device.sent[id] = device.edits[id]
      try ledger.noteSending(id, sequence: sequence, envelope: envelope)
    }
  }

  func forgetSending(_ id: String, sequence: Int64) throws {
    try step("forget \(id)") { try ledger.forgetSending(id, sequence: sequence) }
  }

  func settle(_ id: String, sequence: Int64, etag: ETag?) throws {
    try step("settle \(id)") { try ledger.settle(id, sequence: sequence, etag: etag) }
  }

  func take(
    _ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag, taking: RecordTaking, isLost: Bool
  ) throws {
    try step("take \(id) \(taking.name)\(isLost ? ", lost" : "")") {
      try world.checkTaken(device, id, envelope, isLost: isLost)
      try ledger.take(id, stamp: stamp, envelope: envelope, etag: etag, taking: taking, isLost: isLost)
    }
  }

  func renew(_ id: String, stamp: RecordStamp) throws {
    try step("renew \(id)") { try ledger.renew(id, stamp: stamp) }
  }

  func ask(_ id: String, stamp: RecordStamp, envelope: [UInt8], etag: ETag) throws {
    try step("ask \(id)") {
      try world.checkTaken(device, id, envelope, isLost: true)
      try ledger.ask(id, stamp: stamp, envelope: envelope, etag: etag)
    }
  }

  func fail(_ id: String, error: SatchelError, attempts: Int, retryAt: Int64) throws {
    try step("fail \(id): \(error)") {
      try ledger.fail(id, error: error, attempts: attempts, retryAt: retryAt)
    }
  }

  func finish(isComplete: Bool) throws {
    try step("finish") { try ledger.finish(isComplete: isComplete) }
  }
}

extension RecordTaking {
  var name: String {
    switch self {
    case .replace(let content): "replace " + SimulatedDocument.text(content.document)
    case .merge(let content): "merge " + SimulatedDocument.text(content.document)
    case .keep: "keep"
    case .agree: "agree"
    }
  }
}

import CSatchel
import Satchel

/// The host's response to one migration callback.
final class RecordAnswer: Sendable {
  struct Content {
    var document: [UInt8]?
    var message: String?
  }

  let content = Locked(Content())
}

@_cdecl("satchel_record_answer_document") @implementation
public func satchel_record_answer_document(_ answer: OpaquePointer!, _ document: satchel_bytes) {
  guard let content = try? Handles.recordAnswers.borrow(answer).content,
    let bytes = try? Array(document.raw("document"))
  else { return }
  content.withLock { $0.document = bytes }
}

@_cdecl("satchel_record_answer_message") @implementation
public func satchel_record_answer_message(_ answer: OpaquePointer!, _ message: satchel_bytes) {
  guard let content = try? Handles.recordAnswers.borrow(answer).content,
    let bytes = try? Array(message.raw("message"))
  else { return }
  content.withLock { $0.message = String(decoding: bytes, as: UTF8.self) }
}

/// The host's callback that migrates a record from one version to another.
// Unchecked: function and context are the host's, and are only used during its call to open a collection.
final class HostMigration: @unchecked Sendable {
  private let migrate: satchel_record_migration
  private let context: UnsafeMutableRawPointer?

  init(_ migrate: @escaping satchel_record_migration, _ context: UnsafeMutableRawPointer?) {
    self.migrate = migrate
    self.context = context
  }

  var body: RecordCallback.Body {
    { [self] id, document, from, to in try run(id, document, from, to) }
  }

  private func run(_ id: String, _ document: JSONObject, _ from: Int, _ to: Int) throws -> JSONObject {
    let answer = RecordAnswer()
    guard let handle = Handles.recordAnswers.insert(answer) else {
      throw SatchelError(.noMemory, "no memory for a handle")
    }
    defer { _ = Handles.recordAnswers.remove(handle) }
    let record = try JSONValue.object(["id": .string(id), "document": .object(document)]).serialized()
    let isDone = record.withUnsafeBytes { record in
      HostWork.calling("a migration") {
        migrate(
          context, Int32(clamping: from), Int32(clamping: to),
          satchel_bytes(data: record.baseAddress, size: record.count), handle)
      }
    }
    let content = answer.content.withLock { $0 }
    guard isDone else { throw JSONError(content.message ?? "the host's migration failed without a message") }
    guard let bytes = content.document else { throw JSONError("the host's migration set no document") }
    guard case .object(let document) = try JSONValue(parsing: bytes) else {
      throw JSONError("the host's migration set a document that is not an object")
    }
    return document
  }
}

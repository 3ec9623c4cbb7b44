import SatchelCore

/// The content of an outbox file.
package struct OutboxContent: Equatable, Sendable {
  /// The file's identity, constant for its lifetime: 32 hexadecimal digits.
  package var identity: String
  /// The intact entries, in the order in which they were appended.
  package var frames: [OutboxFrame]
  /// The damaged parts, in order.
  package var damages: [OutboxDamage]

  /// Whether every acknowledged entry is intact.
  package var isComplete: Bool { damages.allSatisfy { $0.kind == .truncated } }
}

/// An entry of an outbox file.
package struct OutboxFrame: Equatable, Sendable {
  /// Greater than the numbers of all earlier entries; not consecutive.
  package var number: Int64
  package var payload: [UInt8]
}

/// A damaged part of an outbox file.
package struct OutboxDamage: Equatable, Sendable {
  package enum Kind: Sendable {
    /// An incomplete entry at the end of the file: its append was never acknowledged.
    case truncated
    case unreadable
  }

  package var offset: Int64
  package var count: Int64
  package var kind: Kind

  /// The description for people.
  package var message: String {
    switch kind {
    case .truncated: "the last \(count) bytes, from offset \(offset), are an incomplete entry"
    case .unreadable: "\(count) bytes from offset \(offset) cannot be read"
    }
  }
}

/// The outcome of `OutboxFile.finish`.
package enum OutboxFileOutcome: Equatable, Sendable {
  case removed
  /// New entries were appended meanwhile: drain again.
  case kept
  /// The file was damaged and was renamed, for people to inspect.
  case quarantine(String)
}

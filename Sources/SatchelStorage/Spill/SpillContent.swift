/// What stands in a spill file.
package struct SpillContent: Equatable, Sendable {
  /// Belongs to the file for as long as it lives: 32 hexadecimal digits.
  package var identity: String
  /// Every entry that is whole, in the order they were appended.
  package var frames: [SpillFrame]
  /// Bytes that are no entry, in order.
  package var damages: [SpillDamage]

  /// Whether every entry that was acknowledged is whole.
  package var isComplete: Bool { damages.allSatisfy { $0.kind == .cutShort } }
}

/// An entry of a spill file.
package struct SpillFrame: Equatable, Sendable {
  /// Greater than those of all entries before it; not consecutive.
  package var number: Int64
  package var payload: [UInt8]
}

/// A part of a spill file that is not what was written there.
package struct SpillDamage: Equatable, Sendable {
  package enum Kind: Sendable {
    /// The end of the file is an entry that was not written whole: its append was never acknowledged.
    case cutShort
    case unreadable
  }

  package var offset: Int64
  package var count: Int64
  package var kind: Kind

  /// For people.
  package var message: String {
    switch kind {
    case .cutShort: "the last \(count) bytes, from offset \(offset), are an entry that was cut short"
    case .unreadable: "\(count) bytes from offset \(offset) cannot be read"
    }
  }
}

/// What became of a spill file whose entries are in the store.
package enum SpillOutcome: Equatable, Sendable {
  case removed
  /// Others appended meanwhile: there is more to replay.
  case kept
  /// It had damage, and was renamed for people to look at.
  case setAside(String)
}

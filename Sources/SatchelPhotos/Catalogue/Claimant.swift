import SatchelStorage

/// Who claims backups: one value of `PhotoCatalogue`, in one process.
///
/// Its name tells whether its process still lives: the machine's start, the process's number and start, and a
/// number of its own.
final class Claimant: Sendable {
  /// As it stands in the table.
  let name: String
  private let number: Int64
  private let hasEnded = Guarded(false)

  /// Claimants of this process that have not ended, and their stores. One number for ever.
  private static let living = Guarded<[Int64: Store]>([:])

  /// A store, not kept open for it.
  // Unchecked: only ever touched with the lock of `living` held.
  private final class Store: @unchecked Sendable {
    weak var database: Database?
    init(_ database: Database) { self.database = database }
  }

  init(_ database: Database) {
    number = Int64.random(in: 1...Int64.max)
    name = "\(ProcessIdentity.current.text) \(String(number, radix: 16))"
    Self.living.withLock { $0[number] = Store(database) }
  }

  var isOver: Bool { hasEnded.withLock { $0 } }

  /// - Returns: false when it had ended before
  func end() -> Bool {
    let isFirst = hasEnded.withLock { ended in
      defer { ended = true }
      return !ended
    }
    if isFirst { _ = Self.living.withLock { $0.removeValue(forKey: number) } }
    return isFirst
  }

  /// Whether whoever has this name can still end what was begun. In doubt it can.
  static func isAlive(_ name: String) -> Bool {
    guard let space = name.lastIndex(of: " "),
      let number = Int64(name[name.index(after: space)...], radix: 16),
      let process = ProcessIdentity(text: String(name[..<space]))
    else { return false }
    guard process == .current else { return process.isAlive }
    return living.withLock { living in
      guard let database = living[number]?.database else { return false }
      return !database.isClosed
    }
  }
}

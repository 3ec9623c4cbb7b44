import SatchelCore
import SatchelStorage

/// The status of a photo's backup.
public enum BackupStatus: String, Sendable, CaseIterable {
  case notBackedUp = "not_backed_up"
  case queued, uploading, uploaded, error

  /// The statuses that may follow.
  var successors: [BackupStatus] {
    switch self {
    case .notBackedUp, .error: [.queued]
    case .queued: [.uploading]
    case .uploading: [.uploaded, .error]
    case .uploaded: []
    }
  }

  /// The value in the table.
  var number: Int64 {
    switch self {
    case .notBackedUp: 0
    case .queued: 1
    case .uploading: 2
    case .uploaded: 3
    case .error: 4
    }
  }

  init(number: Int64) throws {
    guard let status = Self.allCases.first(where: { $0.number == number }) else {
      throw SatchelError(.damaged, "photo_local: \(number) is not a backup status")
    }
    self = status
  }

  /// - Throws: `SatchelError` (`invalid`) for an unknown name
  package init(name: String) throws {
    guard let status = BackupStatus(rawValue: name) else {
      let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw SatchelError(.invalid, "backup_status: \"\(name.prefix(64))\" is not one of \(names)")
    }
    self = status
  }
}

/// A fault of the file of a photo in the remote, in the column `error` of its local row.
enum BackupDamage: String {
  case damaged = "damaged in the remote"
  case missing = "missing in the remote"
}

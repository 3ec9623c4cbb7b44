import SatchelCore
import SatchelJSON
import SatchelStorage

/// Whether the files of a catalogue's photos are safe: where they are, and which the remote has.
public struct PhotoSafety: Sendable, Equatable, JSONConvertible {
  /// Photos in one place, and those of them whose file the remote has.
  public struct Count: Sendable, Equatable {
    public var photos: Int64 = 0
    public var backedUp: Int64 = 0

    var json: JSONValue { ["photos": .int(photos), "backed_up": .int(backedUp)] }
  }

  /// Photos with a file on this device, as of the last scan.
  public var present = Count()
  /// Photos whose file was on this device, and is not any more.
  public var missing = Count()
  /// Photos whose file was never on this device: it is on another one.
  public var elsewhere = Count()
  /// Photos whose file is missing or damaged in the remote, as of the last refresh of the backups.
  public var damaged: Int64 = 0
  /// Photos in the trash.
  public var trash: Int64 = 0
  /// Photos that were deleted on this device while their files stayed.
  public var hidden: Int64 = 0

  public var photos: Int64 { present.photos + missing.photos + elsewhere.photos }
  public var backedUp: Int64 { present.backedUp + missing.backedUp + elsewhere.backedUp }
  /// Whether the remote has the file of every photo.
  public var isSafe: Bool { backedUp == photos }

  /// The numbers as a JSON object: present, missing and elsewhere, with photos and backed_up each; damaged, trash,
  /// hidden, safe.
  public var json: JSONValue {
    [
      "present": present.json, "missing": missing.json, "elsewhere": elsewhere.json, "damaged": .int(damaged),
      "trash": .int(trash), "hidden": .int(hidden), "safe": .bool(isSafe),
    ]
  }
}

extension PhotoCatalogue {
  /// Returns where the files of the photos are, and which are backed up. Reads a few columns of every photo; uses no
  /// network: a backup counts as this device knows it by its own runs, and by the last `refreshBackups`.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func safety() throws -> PhotoSafety {
    try readInterruptibly(otherwise: PhotoSafety()) { connection, id in
      var safety = PhotoSafety()
      // Columns: photos, backed up, damaged; of those with a file, those that had one, and the others.
      try connection.each(
        """
        SELECT place, count(*), sum(is_safe), sum(is_damaged) FROM (
          SELECT coalesce((SELECT min(f.is_missing) FROM photo_file f INDEXED BY photo_file_md5
            WHERE f.catalogue = p.catalogue AND f.md5 = p.md5 AND f.kind = 0), 2) AS place,
          coalesce(l.backup = 3 AND l.error IS NULL, 0) AS is_safe, coalesce(l.error IN (?2, ?3), 0) AS is_damaged
          FROM photo p LEFT JOIN photo_local l ON l.catalogue = p.catalogue AND l.md5 = p.md5 WHERE p.catalogue = ?1)
        GROUP BY place
        """, .integer(id), .text(BackupDamage.damaged.rawValue), .text(BackupDamage.missing.rawValue)
      ) { row in
        let count = PhotoSafety.Count(photos: try row.integer(1), backedUp: try row.integer(2))
        switch row.anyInteger(0) {
        case 0: safety.present = count
        case 1: safety.missing = count
        default: safety.elsewhere = count
        }
        safety.damaged += try row.integer(3)
      }
      safety.trash = try TrashTable(connection: connection, catalogue: id).count()
      safety.hidden = try connection.number(
        """
        SELECT count(DISTINCT md5) FROM photo_file f WHERE catalogue = ?1 AND kind = 0 AND is_hidden = 1
        AND NOT EXISTS(SELECT 1 FROM photo p WHERE p.catalogue = ?1 AND p.md5 = f.md5)
        """, .integer(id))
      return safety
    }
  }
}

import SatchelCore
import SatchelStorage

extension PhotoCatalogue {
  /// Appends a photo to the queue of backups, and stars it.
  ///
  /// - Throws: `.notFound`, `.invalid` (which names both statuses) unless it is not backed up, or failed
  public func queueBackup(_ md5: MD5) throws {
    try step(md5, to: .queued) { local, table, _ in try local.enqueue(in: table) }
  }

  /// Leases the photo that has been queued longest to the caller, for uploading it: no other caller in any
  /// process gets it. Leases of processes that died return to the queue, at their old positions.
  ///
  /// - Returns: nil when the queue is empty
  public func claimBackup() throws -> PhotoDetails? {
    var start: Int64 = -1
    return try claimBackups(limit: 1, after: &start).first
  }

  /// Leases up to `limit` photos in one transaction, as `claimBackup`.
  ///
  /// - Parameter position: those behind it in the queue, which then is the last one of them
  func claimBackups(limit: Int, after position: inout Int64) throws -> [PhotoDetails] {
    let leased = try lease(limit, after: &position)
    guard leased.isEmpty else { return leased }
    return try requeueExpiredLeases() > 0 ? lease(limit, after: &position) : []
  }

  /// Marks a claimed photo as uploaded.
  ///
  /// - Throws: `.notFound`, `.invalid` (which names both statuses) unless it is being uploaded
  public func finishBackup(_ md5: MD5) throws {
    try step(md5, to: .uploaded) { local, _, now in local.endUpload(at: now) }
  }

  /// Marks claimed photos as uploaded, in one transaction; ignores those that were deleted, or are not being uploaded by
  /// this value any more.
  func finishBackups(_ photos: [MD5]) throws {
    try write { transaction, id in
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      let lookup = PhotoLookup(connection: transaction.connection, catalogue: id)
      for md5 in photos {
        guard var local = try table.row(md5), local.backup == .uploading, local.leaseOwner == leaseOwner.name,
          try lookup.photo(md5) != nil
        else { continue }
        local.backup = .uploaded
        local.endUpload(at: transaction.now)
        try table.put(md5, local)
      }
      notify(photos, in: transaction)
    }
  }

  /// Marks the upload of a claimed photo as failed; the photo may be queued again.
  ///
  /// - Parameter reason: a message for people, stored with the photo
  /// - Throws: `.notFound`, `.invalid` (which names both statuses) unless it is being uploaded
  public func failBackup(_ md5: MD5, reason: String) throws {
    try step(md5, to: .error) { local, _, now in
      local.endUpload(at: now)
      local.error = reason
    }
  }

  // MARK: Steps

  /// Changes the status of a backup, if its current status allows that.
  private func step(
    _ md5: MD5, to status: BackupStatus, _ change: (inout LocalRow, LocalTable, Int64) throws -> Void
  ) throws {
    try changeLocal(md5) { local, table, now in
      guard local.backup.successors.contains(status) else {
        throw SatchelError(
          .invalid,
          "photo \(md5): its backup is \(local.backup.rawValue), which cannot become \(status.rawValue)")
      }
      local.backup = status
      try change(&local, table, now)
    }
  }

  private func lease(_ limit: Int, after position: inout Int64) throws -> [PhotoDetails] {
    // Reads first, so that polling an empty queue does not wait for writers.
    let isEmpty = try read(otherwise: true) {
      try LocalTable(connection: $0, catalogue: $1).firstInQueue(after: position) == nil
    }
    if isEmpty { return [] }
    return try write { transaction, id in
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      let lookup = PhotoLookup(connection: transaction.connection, catalogue: id)
      var (leased, last) = ([PhotoDetails](), MD5?.none)
      while leased.count < limit, let md5 = try table.firstInQueue(after: position) {
        guard md5 != last else { throw RowOrder.damaged("photo_local") }
        last = md5
        var local = try table.row(md5) ?? LocalRow()
        guard let photo = try lookup.photo(md5) else {
          // Deleted after it was queued: there is nothing to upload.
          (local.isStarred, local.backup, local.queued) = (false, .notBackedUp, nil)
          try table.put(md5, local)
          continue
        }
        position = local.queued ?? position
        local.backup = .uploading
        local.leaseOwner = leaseOwner.name
        local.attempts &+= 1
        local.lastAttempt = transaction.now
        try table.put(md5, local)
        leased.append(PhotoDetails(photo, local: local, isOnRemote: try lookup.isOnRemote(md5)))
      }
      notify(leased.map(\.photo.md5), in: transaction)
      return leased
    }
  }

  /// Requeues the leases of processes that died; photos whose star was removed meanwhile leave the queue.
  ///
  /// - Returns: the number of ended leases
  @discardableResult
  func requeueExpiredLeases() throws -> Int { try requeue { !LeaseOwner.isAlive($0) } }

  /// Queues the photos again whose upload failed, and that are due for another attempt.
  func requeueFailures() throws {
    let due: (Connection, Int64, Int64) throws -> [MD5] = {
      try LocalTable(connection: $0, catalogue: $1).failedBefore($2)
    }
    if try read(otherwise: true, { try due($0, $1, database.clock.now()).isEmpty }) { return }
    try enqueue(due)
  }

  /// Stars the photos that have a file on this device and are not backed up, which queues them.
  func starAll() throws {
    try enqueue { connection, id, _ in
      let table = LocalTable(connection: connection, catalogue: id)
      let lookup = PhotoLookup(connection: connection, catalogue: id)
      return try FileTable(connection: connection, catalogue: id).photos().filter { md5 in
        let status = try table.row(md5)?.backup ?? .notBackedUp
        return try [.notBackedUp, .error].contains(status) && lookup.photo(md5) != nil
      }
    }
  }

  private func enqueue(_ choose: (Connection, Int64, Int64) throws -> [MD5]) throws {
    try write { transaction, id in
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      let photos = try choose(transaction.connection, id, transaction.now)
      for md5 in photos {
        var local = try table.row(md5) ?? LocalRow()
        try local.enqueue(in: table)
        try table.put(md5, local)
      }
      notify(photos, in: transaction)
    }
  }

  /// Ends this value's lease of a photo whose upload has no result: the photo returns to the queue.
  func releaseBackup(_ md5: MD5) throws {
    try write { transaction, id in
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      guard var local = try table.row(md5), local.backup == .uploading, local.leaseOwner == leaseOwner.name
      else { return }
      try local.endLease(in: table)
      // Nothing was tried that says anything about this photo.
      local.attempts = max(0, local.attempts - 1)
      try table.put(md5, local)
      notify([md5], in: transaction)
    }
  }

  /// Requeues the leases of this value.
  func releaseLeases() throws {
    try requeue(isClosing: true) { [name = leaseOwner.name] in $0 == name }
  }

  @discardableResult
  private func requeue(isClosing: Bool = false, _ isOver: (String) -> Bool) throws -> Int {
    func over(_ connection: Connection, _ id: Int64) throws -> [MD5] {
      try LocalTable(connection: connection, catalogue: id).leases().filter { isOver($0.owner) }.map(\.md5)
    }
    let isEmpty = try database.read { connection -> Bool in
      guard let id = try CatalogueTable(connection: connection).id(directory) else { return true }
      return try over(connection, id).isEmpty
    }
    if isEmpty { return 0 }
    return try database.write { transaction in
      guard let id = try CatalogueTable(connection: transaction.connection).id(directory) else { return 0 }
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      let photos = try over(transaction.connection, id)
      for md5 in photos {
        var local = try table.row(md5) ?? LocalRow()
        try local.endLease(in: table)
        try table.put(md5, local)
      }
      notify(photos, in: transaction)
      return photos.count
    }
  }
}

extension LocalRow {
  /// Ends the lease of an upload that has a result.
  fileprivate mutating func endUpload(at now: Int64) {
    (leaseOwner, queued, lastAttempt, error) = (nil, nil, now, nil)
  }

  /// Returns a photo that is being uploaded to the queue, at its old position; one whose star was removed
  /// meanwhile leaves it.
  fileprivate mutating func endLease(in table: LocalTable) throws {
    leaseOwner = nil
    guard isStarred else {
      (backup, queued) = (.notBackedUp, nil)
      return
    }
    backup = .queued
    if queued == nil { queued = try table.nextQueuePosition() }
  }
}

import SatchelStorage

extension PhotoCatalogue {
  /// Puts a photo into the queue of backups, behind those that are in it.
  ///
  /// - Throws: `.notFound`, `.invalid` (which names both states) unless it is not backed up, or failed
  public func queueBackup(_ md5: MD5) throws {
    try step(md5, to: .queued) { local, table, _ in
      local.queued = try table.nextInQueue()
      local.error = nil
    }
  }

  /// Takes the photo that has waited longest, for the caller to upload: nobody else gets it, in whatever process.
  /// Claims of processes that died are back in the queue, at their old places.
  ///
  /// - Returns: nil when no photo waits
  public func claimBackup() throws -> PhotoDetails? {
    if let claimed = try claimNext() { return claimed }
    return try requeueDeadClaims() > 0 ? claimNext() : nil
  }

  /// The photo that was claimed is uploaded.
  ///
  /// - Throws: `.notFound`, `.invalid` (which names both states) unless it is being uploaded
  public func finishBackup(_ md5: MD5) throws {
    try step(md5, to: .uploaded) { local, _, now in
      local.owner = nil
      local.queued = nil
      local.lastAttempt = now
      local.error = nil
    }
  }

  /// The upload failed; the photo may be queued again.
  ///
  /// - Parameter reason: for people; kept with the photo
  /// - Throws: `.notFound`, `.invalid` (which names both states) unless it is being uploaded
  public func failBackup(_ md5: MD5, reason: String) throws {
    try step(md5, to: .error) { local, _, now in
      local.owner = nil
      local.queued = nil
      local.lastAttempt = now
      local.error = reason
    }
  }

  // MARK: Steps

  /// One step of the way, refused where there is none.
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

  private func claimNext() throws -> PhotoDetails? {
    // A look first, so that asking an empty queue does not wait for writers.
    let isEmpty = try read(otherwise: true) {
      try LocalTable(connection: $0, catalogue: $1).firstInQueue() == nil
    }
    if isEmpty { return nil }
    return try write { transaction, id in
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      let lookup = PhotoLookup(connection: transaction.connection, catalogue: id)
      while let md5 = try table.firstInQueue() {
        var local = try table.row(md5) ?? LocalRow()
        guard let photo = try lookup.photo(md5) else {
          // Deleted meanwhile: nothing is to be uploaded.
          local.backup = .notBackedUp
          local.queued = nil
          try table.put(md5, local)
          continue
        }
        local.backup = .uploading
        local.owner = claimant.name
        local.attempts &+= 1
        local.lastAttempt = transaction.now
        try table.put(md5, local)
        note([md5], in: transaction)
        return PhotoDetails(photo, local: local, isAgreed: try lookup.isAgreed(md5))
      }
      return nil
    }
  }

  /// Puts what dead processes claimed back into the queue.
  ///
  /// - Returns: how many claims that were
  @discardableResult
  func requeueDeadClaims() throws -> Int { try requeue { !Claimant.isAlive($0) } }

  /// Puts what this value claimed back into the queue.
  func returnClaims() throws {
    try requeue(isClosing: true) { [name = claimant.name] in $0 == name }
  }

  @discardableResult
  private func requeue(isClosing: Bool = false, _ isOver: (String) -> Bool) throws -> Int {
    func over(_ connection: Connection, _ id: Int64) throws -> [MD5] {
      try LocalTable(connection: connection, catalogue: id).claims().filter { isOver($0.owner) }.map(\.md5)
    }
    let isNothing = try database.read { connection -> Bool in
      guard let id = try CatalogueTable(connection: connection).id(directory) else { return true }
      return try over(connection, id).isEmpty
    }
    if isNothing { return 0 }
    return try database.write { transaction in
      guard let id = try CatalogueTable(connection: transaction.connection).id(directory) else { return 0 }
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      let photos = try over(transaction.connection, id)
      for md5 in photos {
        var local = try table.row(md5) ?? LocalRow()
        local.backup = .queued
        local.owner = nil
        if local.queued == nil { local.queued = try table.nextInQueue() }
        try table.put(md5, local)
      }
      note(photos, in: transaction)
      return photos.count
    }
  }
}

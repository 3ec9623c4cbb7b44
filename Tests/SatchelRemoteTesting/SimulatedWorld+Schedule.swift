extension SimulatedWorld {
  /// Runs the schedule.
  ///
  /// - Throws: `SimulationViolation`
  package func run() throws {
    stage.note("\(stage.setting)")
    if stage.setting.beginsSynced {
      for device in devices { try edit(device) }
      for _ in 0..<2 { for device in devices { try complete(device) } }
    }
    stage.isFaulty = stage.setting.rarity > 0
    if let script { try script.steps(self) } else { for _ in 0..<stage.setting.steps { try step() } }
    stage.isFaulty = false
    stage.note("-- no faults from here on")
    while let device = stage.pick(devices.filter { $0.sync != nil }) { try resume(device) }
    // A device must read the repairs of another one, and may add changes of its own.
    for round in 0..<rounds {
      if round == 1, script == nil, let device = devices.first { try edit(device) }
      for device in devices {
        while try decide(device) {}
        try complete(device, isCalm: round == rounds - 1)
      }
    }
    try checkConvergence()
  }

  private func step() throws {
    stage.deliver()
    try disturb()
    guard let device = stage.pick(devices) else { return }
    switch (device.sync, stage.chance(10)) {
    case (nil, 0..<4), (_?, 0): try edit(device)
    case (nil, 4): if try !decide(device) { begin(device) }
    case (nil, _): begin(device)
    case (_?, _): try resume(device)
    }
    try stage.check()
  }

  /// Runs a whole sync without interruption.
  package func complete(_ device: Device, isCalm: Bool = false) throws {
    begin(device)
    var result: Result<Device.Report, any Error>?
    while let sync = device.sync {
      try resume(device)
      result = sync.result
    }
    switch result {
    case .success(let report): try check(report, of: device, isCalm: isCalm)
    case .failure(let error): throw SimulationViolation(description: "a sync without faults: \(error)")
    case nil: throw SimulationViolation(description: "a sync without faults did not end")
    }
  }

  private func begin(_ device: Device) {
    stage.note("device \(device.number): sync")
    let sync = SimulationSync<Device.Report>()
    device.sync = sync
    device.fiber.begin { [self] in
      let connection = SimulatedConnection(world: self, device: device, sync: sync)
      sync.result = Result { try perform(device, sync, over: connection) }
    }
  }

  /// Begins a sync, and runs it until it is about to make a request whose name has this prefix.
  package func begin(_ device: Device, until request: String) throws {
    begin(device)
    repeat { try resume(device) } while device.sync.map { $0.next?.hasPrefix(request) != true } ?? false
    guard device.sync != nil else {
      throw SimulationViolation(description: "device \(device.number) has ended without \"\(request)\"")
    }
  }

  /// Runs a device until its next request.
  private func resume(_ device: Device) throws {
    device.fiber.resume()
    try stage.check()
    guard let sync = device.sync, !device.fiber.isBusy else { return }
    device.sync = nil
    stage.note("device \(device.number): " + (sync.isCrashed ? "crashed" : "ends, \(sync.outcome)"))
    stage.deliverOrDrop(device)
    try stage.check()
    try check(device)
  }

  /// Ends running syncs as a crash would.
  func abandon() {
    for device in devices {
      device.sync?.isCrashed = true
      while device.fiber.isBusy { device.fiber.resume() }
    }
  }
}

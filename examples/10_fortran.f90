! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! Fortran: scopes, actions and a stage by the module in bindings/fortran.
! env: GNOMON=simple
program train
    use, intrinsic :: iso_c_binding
    use gnomon
    implicit none
    type(c_ptr) :: forward
    integer(c_int64_t) :: token
    integer :: i
    real :: sum

    forward = gnomon_region("forward")
    sum = 0
    do i = 1, 3
        call gnomon_start("train_step")
        token = gnomon_begin(forward)
        sum = sum + sqrt(real(i))
        call gnomon_end(token)
        call gnomon_stop("train_step")
        call gnomon_step()
    end do
    print '(a, f6.3)', "the sum is ", sum
end program train
